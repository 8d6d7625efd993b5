"""What attacks found, as a part of an HTML page: no scripts, the plot is inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from discreet.attacks.attack import BINS, Finding

if TYPE_CHECKING:
    from discreet.attacks.running import AttackReport

PLOTTED = 8  # findings in the plot, those with the greatest beliefs first
WIDTH, ROW, LEFT, RIGHT, TOP = 760, 34, 250, 70, 26


def attack_section(report: AttackReport) -> str:
    """The findings: the strongest reader, a table, a plot of beliefs, the risks."""
    rows = "".join(_row(finding) for finding in report.findings)
    left_out = "".join(
        f"<li>{escape(name)}: {escape(why)}</li>" for name, why in report.inapplicable.items()
    )
    return (
        f"<p>{escape(report.summary)}</p>"
        "<table><thead><tr><th>attack</th><th>aim</th><th>targets</th><th>mean belief</th>"
        f"<th>greatest</th><th>above {report.threshold:g}</th><th>without the release</th>"
        "<th>promised</th><th>verdict</th><th>how</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
        f"{belief_plot(report.findings, report.threshold)}{_risks(report)}"
        + (f"<p>Not run:</p><ul>{left_out}</ul>" if left_out else "")
    )


def _row(finding: Finding) -> str:
    bound = "–" if finding.bound is None else f"{finding.bound:.3f}"
    tone = " class='bad'" if finding.inside and finding.exceeded else ""
    above = f"{finding.above:.3f}"
    if finding.interval is not None:
        above += f" ({finding.interval[0]:.3f}–{finding.interval[1]:.3f})"
    cells = (
        f"<span title='{escape(finding.knowledge, quote=True)}'>{escape(finding.title)}</span>",
        escape(finding.shown_aim),
        f"{finding.targets:,}",
        f"{finding.mean:.3f}",
        f"{finding.greatest:.3f}",
        above,
        f"{finding.baseline:.3f}",
        bound,
        f"<span{tone}>{escape(finding.verdict)}</span>",
        escape(finding.method),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _risks(report: AttackReport) -> str:
    rows = "".join(
        f"<tr><td>{escape(r.table)}</td><td>{r.prosecutor:.4g}</td><td>{_cell(r.journalist)}</td>"
        f"<td>{r.marketer:.4g}</td><td>{r.unique:.1%}</td></tr>"
        for r in report.risks
    )
    return (
        "<h3>Re-identification risk</h3><table><thead><tr><th>table</th><th>prosecutor</th>"
        "<th>journalist</th><th>marketer</th><th>unique rows</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _cell(figure: float | None) -> str:
    return "no population given" if figure is None else f"{figure:.4g}"


def belief_plot(findings: Sequence[Finding], threshold: float) -> str:
    """A row for each finding: how many targets are believed in how much, from 0 to 1."""
    shown = sorted(
        (f for f in findings if f.is_belief and f.targets), key=lambda f: (-f.greatest, -f.mean)
    )[:PLOTTED]
    if not shown:
        return ""
    height = TOP + ROW * len(shown) + 30
    parts = [
        f"<svg viewBox='0 0 {WIDTH} {height}' role='img' width='100%' "
        "aria-label='Beliefs in the truth, by attack' font-size='12' fill='currentColor'>",
        f"<text x='{LEFT}' y='14'>belief in the truth: 0</text>",
        f"<text x='{WIDTH - RIGHT}' y='14' text-anchor='end'>1</text>",
        f"<text x='{WIDTH - RIGHT + 6}' y='14'>greatest</text>",
    ]
    for number, finding in enumerate(shown):
        parts.append(_strip(finding, TOP + ROW * number))
    x = _x(threshold)
    parts.append(
        f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{TOP - 6}' y2='{height - 26}' "
        "stroke='currentColor' stroke-dasharray='3 3' opacity='.6'/>"
        f"<text x='{x:.1f}' y='{height - 10}' text-anchor='middle'>threshold {threshold:g}</text>"
        "</svg>"
    )
    return "<h3>Beliefs</h3>" + "".join(parts)


def _strip(finding: Finding, y: float) -> str:
    """One row of the plot: bars whose height is the share of targets, and the promised bound."""
    title = escape(f"{finding.title} → {finding.shown_aim}")
    most = max(finding.histogram, default=0) or 1
    step = (WIDTH - RIGHT - LEFT) / BINS
    room = ROW - 10
    bars = []
    for place, count in enumerate(finding.histogram):
        if count:
            tall = max(1.5, room * count / most)
            bars.append(
                f"<rect x='{LEFT + place * step:.1f}' y='{y + room - tall:.1f}' "
                f"width='{step - 1:.1f}' height='{tall:.1f}' opacity='.55'><title>"
                f"{count:,} targets between {place / BINS:g} and {(place + 1) / BINS:g}"
                "</title></rect>"
            )
    base = y + room
    line = (
        f"<line x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{base}' y2='{base}' "
        "stroke='currentColor' opacity='.4'/>"
    )
    bound = ""
    if finding.bound is not None:
        x = _x(finding.bound)
        bound = (
            f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{y}' y2='{base}' stroke='#c02626' "
            "stroke-width='2'><title>promised bound</title></line>"
        )
    return (
        f"<text x='{LEFT - 8}' y='{base - 4}' text-anchor='end'>{title[:44]}</text>{line}"
        f"{''.join(bars)}{bound}<text x='{WIDTH - RIGHT + 6}' y='{base - 4}'>"
        f"{finding.greatest:.3f}</text>"
    )


def _x(belief: float) -> float:
    return LEFT + (WIDTH - RIGHT - LEFT) * min(max(belief, 0.0), 1.0)
