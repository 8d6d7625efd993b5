"""The key of a ledger, and the hashes of people that only its owner can form.

The key is 32 random bytes in a file of its own, mode 0600. A person is known to a ledger by the
keyed BLAKE2b hash of the identifier's text, so that a stolen ledger without its key identifies no
person. A ledger holds a check value of its key; another key is refused before anything is matched.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from discreet.errors import InputError
from discreet.regular_files import read_text
from discreet.typing import PersonHashes

KEY_BYTES = 32
HASH_BYTES = 16
CHECK = b"discreet ledger: check of the key"


def create_key(path: Path) -> bytes:
    """Draw a key and write it to a file that must not exist yet."""
    key = secrets.token_bytes(KEY_BYTES)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(
            f"Key file {path} already exists. Name another with --key; a key is never "
            "overwritten, because its ledger would be lost."
        ) from None
    except OSError as error:
        raise InputError(f"Key file {path}: {error.strerror}. Check the path.") from None
    with os.fdopen(file, "w", encoding="ascii") as stream:
        stream.write(key.hex() + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    return key


def load_key(path: Path) -> bytes:
    """Read a key; refuse one that others may read."""
    try:
        text = read_text(path, "Key file", encoding="ascii")
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(
            f"Key file {path}: there is no such file. Without its key a ledger cannot be used; "
            "name the file with 'key:' in the job or --key."
        ) from None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"Key file {path}: cannot be read as a key.") from None
    if sys.platform != "win32" and stat.S_IMODE(mode) & 0o077:
        raise InputError(
            f"Key file {path}: other users can read it (mode {stat.S_IMODE(mode):04o}). "
            "Run: chmod 600 on it."
        )
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise InputError(
            f"Key file {path}: not a valid key file: expected {KEY_BYTES} bytes in hexadecimal."
        )
    return key


def check_value(key: bytes) -> str:
    """Return the check value by which a ledger recognizes its key."""
    return authenticate(key, CHECK)


def authenticate(key: bytes, data: bytes) -> str:
    """The HMAC-SHA256 of some bytes."""
    return hmac.new(key, data, hashlib.sha256).hexdigest()


def hash_people(identifiers: Iterable[str], key: bytes) -> PersonHashes:
    """The keyed hash of every identifier."""
    keyed = hashlib.blake2b(digest_size=HASH_BYTES, key=key)  # a copy saves a third of the time
    digests = []
    for text in identifiers:
        digest = keyed.copy()
        digest.update(text.encode())
        digests.append(digest.digest())
    return np.frombuffer(b"".join(digests), np.uint64).reshape(-1, 2)


def hex_of(people: PersonHashes) -> list[str]:
    """Hashes as text, for a private file."""
    return [row.tobytes().hex() for row in np.ascontiguousarray(people)]
