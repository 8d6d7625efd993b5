"""The ``ledger`` key of a job: where the ledger is, its key, and which column names people.

The key of a ledger, and the hashes of people that only its owner can form.

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
from typing import TYPE_CHECKING

import numpy as np
from pydantic import ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from discreet.by_name import Validated
from discreet.errors import InputError
from discreet.io.databases import dialect_of, file_of
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


KEY_VARIABLE = "DISCREET_LEDGER_KEY"


class LedgerSettings(Validated):
    """The place of the ledger, its key, and the column that names people."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Path | None = Field(default=None, description="The ledger's SQLite file.")
    url: str | None = Field(
        default=None, description="The URL of a PostgreSQL database that holds it."
    )
    key: Path | None = Field(
        default=None,
        description=f"The key file; else the one that {KEY_VARIABLE} names, else the ledger's path "
        "with .key at its end.",
    )
    person: str | None = Field(
        default=None, description="The identifier that names a record; the only one if not given."
    )
    wait: float = Field(
        default=60.0,
        ge=0,
        description="Seconds to wait for another run that publishes to the same ledger.",
    )

    bcf_anonymity: int | None = Field(
        default=None,
        ge=2,
        description="The least number of rows that correspondence attacks on all releases of the "
        "ledger leave for a record; nothing is guaranteed if left out.",
    )

    if TYPE_CHECKING:  # as callers may write it

        def __init__(
            self,
            *,
            path: str | Path | None = ...,
            url: str | None = ...,
            key: str | Path | None = ...,
            person: str | None = ...,
            wait: float = ...,
            bcf_anonymity: int | None = ...,
        ) -> None: ...

    @model_validator(mode="after")
    def _one_place(self) -> LedgerSettings:
        if (self.path is None) == (self.url is None):
            raise PydanticCustomError(
                "ledger_place", "give either a 'path' (SQLite) or a 'url' (PostgreSQL)."
            )
        if self.url is not None:
            try:
                dialect_of(self.url)
            except InputError as error:
                raise PydanticCustomError(
                    "ledger_url", "{problem}", {"problem": str(error)}
                ) from None
        return self

    @classmethod
    def at(cls, place: str, **others: object) -> LedgerSettings:
        """The settings for a path or URL from the command line."""
        named = {"url": place} if "://" in place else {"path": place}
        try:
            return cls.model_validate({**named, **others})
        except ValidationError as error:
            raise InputError(f"ledger: {error.errors()[0]['msg']}") from None

    def located(self, folder: Path) -> LedgerSettings:
        """The same settings with paths resolved from the folder of the job."""
        key = self.key_path(folder)
        path = self.path
        url = self.url
        if url is not None and dialect_of(url) == "sqlite":
            path, url = file_of(url, folder), None
        elif path is not None:
            path = folder / path
        return self.model_copy(update={"path": path, "url": url, "key": key})

    def key_path(self, folder: Path) -> Path:
        """Return the path of the key."""
        if self.key is not None:
            return folder / self.key
        named = os.environ.get(KEY_VARIABLE)
        if named:
            return Path(named)
        if self.path is None:
            raise InputError(
                f"The ledger's key file is not named. Add 'key:' to the job's ledger, or set "
                f"{KEY_VARIABLE}."
            )
        path = folder / self.path
        return path.with_name(f"{path.name}.key")
