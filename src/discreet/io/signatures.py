"""Ed25519 signatures of a manifest, and the key files that make and check them.

Keys are PEM files as OpenSSL writes them; a signature is the 64 bytes themselves, so that OpenSSL
can check it too. The package ``cryptography`` is loaded when a key is.
"""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.extras import require_extra
from discreet.regular_files import read_whole

SIGNATURE = "manifest.sig"  # beside the manifest
SIGNATURE_BYTES = 64
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493  # of Ed25519 (RFC 8032, 5.1)


def create_keys(path: Path) -> Path:
    """Write a new private key to ``path`` and its public key beside it; return the latter."""
    serialization = _module("hazmat.primitives.serialization")
    private = _module("hazmat.primitives.asymmetric.ed25519").Ed25519PrivateKey.generate()
    public = path.with_name(f"{path.name}.pub")
    if os.path.lexists(public):
        raise InputError(f"{public}: already exists. Name another key file.")
    pem = serialization.Encoding.PEM
    secret = private.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    shown = private.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    try:
        for place, text, mode in ((path, secret, 0o600), (public, shown, 0o644)):
            file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(file, "wb") as stream:
                stream.write(text)
    except FileExistsError:
        raise InputError(
            f"{path}: already exists. Name another key file; a key is never overwritten."
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}). Check the path.") from None
    return public


@dataclass(frozen=True)
class SigningKey:
    """A private key."""

    _key: Any

    @classmethod
    def load(cls, path: str | Path) -> SigningKey:
        """Read a private key; refuse one that others may read."""
        path = Path(path)
        serialization = _module("hazmat.primitives.serialization")
        data = _read(path)
        if sys.platform != "win32" and (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077:
            raise InputError(
                f"{path}: other users can read this private key (mode {mode:04o}). Use: chmod 600."
            )
        try:
            key = serialization.load_pem_private_key(data, None)
        except TypeError:
            raise InputError(f"{path}: the key is encrypted. Decrypt it first.") from None
        except Exception:  # the package raises errors of its own
            key = None
        if not isinstance(key, _module("hazmat.primitives.asymmetric.ed25519").Ed25519PrivateKey):
            raise InputError(
                f"{path}: not an Ed25519 private key in PEM form. Make one: discreet keys new."
            )
        return cls(key)

    def sign(self, folder: Path, manifest: str) -> None:
        """Sign the manifest of a folder."""
        self.sign_file(folder / manifest, folder / SIGNATURE)

    def sign_file(self, path: Path, signature: Path) -> None:
        """Write the signature of a file to another one."""
        signature.write_bytes(self._key.sign(read_whole(path)))


def is_signature(path: Path) -> bool:
    """Return whether a file has the form of an Ed25519 signature; any text has not.

    The second half is a number below the group order (RFC 8032, 5.1.7). 64 bytes of a signature
    look random, and are valid UTF-8 with a chance below 10⁻¹⁵.
    """
    if path.stat().st_size != SIGNATURE_BYTES:
        return False
    data = read_whole(path)
    try:
        data.decode()
    except UnicodeDecodeError:
        return int.from_bytes(data[SIGNATURE_BYTES // 2 :], "little") < GROUP_ORDER
    return False


def is_signed(folder: Path, manifest: str, public_key: str | Path) -> bool:
    """Return whether a folder's manifest is signed by this key; false without a signature."""
    path = Path(public_key)
    serialization = _module("hazmat.primitives.serialization")
    try:
        key = serialization.load_pem_public_key(_read(path))
    except InputError:
        raise
    except Exception:  # the package raises errors of its own
        key = None
    if not isinstance(key, _module("hazmat.primitives.asymmetric.ed25519").Ed25519PublicKey):
        raise InputError(
            f"{path}: not an Ed25519 public key in PEM form. Use the file KEY.pub that "
            "'discreet keys new KEY' wrote."
        )
    place = folder / SIGNATURE
    if not place.is_file() or place.stat().st_size != SIGNATURE_BYTES:
        return False
    try:
        key.verify(read_whole(place), read_whole(folder / manifest))
    except _module("exceptions").InvalidSignature:
        return False
    return True


def _read(path: Path) -> bytes:
    try:
        return read_whole(path, "Key file")
    except OSError as error:
        raise InputError(f"Key file {path}: {error.strerror}. Check the path.") from None


def _module(name: str) -> Any:
    return require_extra(f"cryptography.{name}", "Signatures", "sign")
