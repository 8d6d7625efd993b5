"""pyarrow, which only Parquet releases, pandas frames and Spark need: an extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from discreet.errors import InputError

PARQUET_RELEASES = "Releases in Parquet"
PANDAS_FRAMES = "Frames of pandas"


def require_pyarrow(need: str = PARQUET_RELEASES) -> Any:
    """Return pyarrow with its Parquet module, or raise with the extra to install for ``need``."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        raise InputError(
            f"{need} need the package pyarrow. Install it: pip install 'discreet[parquet]'."
        ) from None
