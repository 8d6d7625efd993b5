"""Packages that only some tasks need: each an extra, with one message where it is missing."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from discreet.errors import InputError

PARQUET_RELEASES = "Releases in Parquet"
PANDAS_FRAMES = "Frames of pandas"


def require_extra(module: str, need: str, extra: str, package: str = "") -> Any:
    """Return a module, or raise with the command that installs it for ``need``.

    ``package`` is the name to install, where it differs from the module's.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other packages, on their own imports
            return import_module(module)
    except ImportError:
        package = package or module.partition(".")[0].replace("_", "-")
        raise InputError(
            f"{need} need the package {package}. Install it: pip install 'discreet[{extra}]'."
        ) from None


def require_pyarrow(need: str = PARQUET_RELEASES) -> Any:
    """Return pyarrow with its Parquet module, or raise with the extra to install for ``need``."""
    extra = "pandas" if need == PANDAS_FRAMES else "parquet"
    require_extra("pyarrow.parquet", need, extra)
    return require_extra("pyarrow", need, extra)
