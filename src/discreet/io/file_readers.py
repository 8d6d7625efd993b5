"""The seam for files that are neither text, Parquet nor Arrow: add-ons register their readers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

import polars as pl

from discreet.io.source import Source
from discreet.plugins import Registry


class FileReader(ABC):
    """Reads the files of some formats."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def names(cls, source: Source) -> list[str]:
        """Return the names of a file's columns, as they are written."""

    @classmethod
    @abstractmethod
    def columns(cls, source: Source, names: Sequence[str]) -> Iterator[pl.Series]:
        """Yield some columns of a file, in this order."""


FILE_READERS: Registry[FileReader] = Registry("reader", "discreet.readers", FileReader, {})
