"""Results that draw themselves: in a notebook as HTML, from Python as Altair charts.

Results are made left of the report, which knows how each of them is drawn. So they name it here,
once, and it is loaded when somebody looks.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair


class Shown:
    """A result that a notebook shows with the pieces of the report."""

    def _repr_html_(self) -> str:
        return str(import_module("discreet.report.notebook").html_of(self))

    def save_page(self, path: str | Path) -> Path:
        """Write its report, one self-contained HTML file."""
        path = Path(path)
        page = import_module("discreet.report.notebook").page_of(self)
        path.write_text(page.html(), encoding="utf-8")
        return path

    def charts(self) -> dict[str, altair.TopLevelMixin]:
        """The plots of its report as Altair charts, by name; needs the extra ``charts``."""
        found: dict[str, altair.TopLevelMixin]
        found = import_module("discreet.report.notebook").altair_charts_of(self)
        return found
