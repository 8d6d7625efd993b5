"""The ``ledger`` key of a job: where the ledger is, its key, and which column names people."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from discreet.errors import InputError
from discreet.io.databases import dialect_of, file_of
from discreet.validated import Validated

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
