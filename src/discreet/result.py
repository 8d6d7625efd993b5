"""What every result can do: plain data, a page, charts, and HTML in a notebook.

Results are made left of the report, which knows how each of them is drawn. So they name it here,
once, and it is loaded when a result is shown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.statements import speaking


class Result(ABC):
    """A result that has plain data, a page and charts, and draws itself in a notebook."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, ready for JSON."""

    def save_page(self, path: str | Path, language: str = "en") -> Path:
        """Write its report, one self-contained HTML file, in English, German or Turkish."""
        path = Path(path)
        with speaking(language):
            path.write_text(self._page().html(), encoding="utf-8")
        return path

    def charts(self) -> dict[str, dict[str, Any]]:
        """Return the plots of its report by name, as Vega-Lite that a notebook draws."""
        vega_lite = import_module("discreet.report.charts.chart").vega_lite
        return {chart.name: vega_lite(chart) for chart in self._charts() if chart is not None}

    def _repr_html_(self) -> str:
        return str(self._page().fragment())

    def _page(self) -> Any:
        """Return its ``Page``."""
        return import_module("discreet.report.result_views").view_of(self).page(self)

    def _charts(self) -> Any:
        """Return its charts, each a ``Chart`` or None."""
        return import_module("discreet.report.result_views").view_of(self).charts(self)
