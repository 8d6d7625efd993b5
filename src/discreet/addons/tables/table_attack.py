"""What attackers learn from a table of any tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.addons.tables.pages import table_attack_page
from discreet.addons.tables.success import Success
from discreet.attacks.run import AttackReport
from discreet.report.charts.chart import Chart
from discreet.report.pieces import Page
from discreet.result import Result
from discreet.statements import Statement, as_data

SHOWN = 12  # attackers who guess


@dataclass(frozen=True)
class TableAttack(Result):
    """How a table was read beside its original, and what every attacker found."""

    shape: str  # original, recoded, perturbed or synthetic
    rows: int  # of the table
    original_rows: int
    copies: int  # rows of the table that are rows of the original, in all compared columns
    unique_copies: int  # those that no other row of either table equals
    attackers: tuple[Success, ...]  # who guess, where cells are exact values
    exact: AttackReport | None  # who weigh all worlds, where each row covers a row of the original
    remarks: tuple[str, ...] = ()

    @property
    def strongest(self) -> Success | None:
        """The attacker whose guesses gain most by the table."""
        gaining = [attacker for attacker in self.attackers if attacker.is_significant]
        return max(
            gaining,
            key=lambda attacker: attacker.gain if attacker.excess is None else attacker.excess[0],
            default=None,
        )

    @property
    def summary(self) -> Statement:
        """The conclusion, in one sentence."""
        if self.shape == "original" and self.copies == self.rows:
            form = "tables.is-original" if self.rows == self.original_rows else "tables.is-part"
            return Statement(form, rows=self.rows, unique=self.unique_copies)
        if self.exact is not None:
            assert isinstance(self.exact.summary, Statement)
            return self.exact.summary
        worst = self.strongest
        if worst is None:
            held = any(attacker.control is not None for attacker in self.attackers)
            form = "tables.none-gains.holdout" if held else "tables.none-gains"
            return Statement(form, attackers=len(self.attackers))
        comparable = worst.beside_control or worst.success
        beside = {} if worst.control is None else {"control": worst.control.share}
        return Statement(
            "tables.strongest.holdout" if beside else "tables.strongest",
            attack=worst.attack, aim=worst.aim, knowledge=worst.knowledge,
            success=comparable.share, low=comparable.interval[0], high=comparable.interval[1],
            baseline=worst.baseline.share, **beside,
        )  # fmt: skip

    @property
    def reading(self) -> Statement:
        """How the table was read."""
        changed = self.shape in ("perturbed", "synthetic")
        return Statement(
            f"tables.shape.{self.shape}", rows=self.rows, original=self.original_rows,
            **({"copies": self.copies} if changed else {}),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "shape": self.shape,
            "rows": self.rows,
            "original_rows": self.original_rows,
            "copies": self.copies,
            "unique_copies": self.unique_copies,
            "summary": as_data(self.summary),
            "attackers": [attacker.to_dict() for attacker in self.attackers],
            "exact": None if self.exact is None else self.exact.to_dict(),
            "remarks": as_data(self.remarks),
        }

    def lines(self, most: int | None = None) -> list[str]:
        """Return a line for each attacker, those who gain most first."""
        ranked = sorted(self.attackers, key=lambda attacker: -attacker.gain)
        shown = ranked[:most]
        if not shown:
            return []
        with_control = any(attacker.control is not None for attacker in shown)
        aims = max(3, *(len(_short(attacker.aim)) for attacker in shown))
        names = max(8, *(len(attacker.attack) for attacker in shown))
        head = f"{'attacker':{names}}  {'aim':{aims}}  {'success':>7}  {'95% interval':>15}"
        head += f"  {'without':>7}" + f"  {'holdout':>7}  {'excess':>6}" * with_control
        lines = [head]
        for attacker in shown:
            low, high = attacker.success.interval
            line = f"{attacker.attack:{names}}  {_short(attacker.aim):{aims}}"
            line += f"  {attacker.success.share:>7.1%}"
            line += f"  {f'{low:.1%} – {high:.1%}':>15}  {attacker.baseline.share:>7.1%}"
            if attacker.control is not None:
                excess = attacker.excess
                shown_excess = "–" if excess is None else f"{excess[0]:.1%}"
                line += f"  {attacker.control.share:>7.1%}  {shown_excess:>6}"
            lines.append(line)
        return lines

    def brief(self) -> list[str]:
        """Return what attackers learn, those who gain most."""
        lines = [self.summary, self.reading, *self.remarks]
        if self.attackers:
            lines += ["", *self.lines(SHOWN), ""]
            lines.append(
                "success: right guesses; without: the same guess without the table; holdout: about "
                "persons who are not in the table; excess: what is due to being in it."
            )
        if self.exact is not None:
            lines += ["", *self.exact.lines()]
        return [*lines, "All results: --verbose or --json. A page: --page FILE."]

    def _page(self) -> Page:
        return table_attack_page(self)

    def _charts(self) -> Sequence[Chart]:
        return ()

    def __str__(self) -> str:
        parts: list[Sequence[str]] = [[self.summary, self.reading, *self.remarks]]
        parts += [["", *self.lines()]] if self.attackers else []
        parts += [["", str(self.exact)]] if self.exact is not None else []
        return "\n".join(line for part in parts for line in part)


def _short(text: str) -> str:
    return text if len(text) <= 34 else text[:33] + "…"
