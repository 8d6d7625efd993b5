"""pyarrow, which only Parquet releases, pandas frames and Spark need: an extra."""

from __future__ import annotations

from typing import Any

from discreet.extras import require_extra

PARQUET_RELEASES = "Releases in Parquet"
PANDAS_FRAMES = "Frames of pandas"


def require_pyarrow(need: str = PARQUET_RELEASES) -> Any:
    """Return pyarrow with its Parquet module, or raise with the extra to install for ``need``."""
    extra = "pandas" if need == PANDAS_FRAMES else "parquet"
    require_extra("pyarrow.parquet", need, extra)
    return require_extra("pyarrow", need, extra)
