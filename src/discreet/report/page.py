"""The report: one self-contained HTML page, for the person who must sign."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from discreet.attacks.running import AttackReport
from discreet.attacks.view import attack_section
from discreet.attacks.weaknesses import known_weaknesses
from discreet.job import Job
from discreet.releases.explanation import explain
from discreet.releases.manifest import Manifest, Promise

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #16803c; --bad: #c02626; }
@media (prefers-color-scheme: dark) { :root { --good: #4ade80; --bad: #f87171; } }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid var(--line); border-radius: .4rem; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } }
"""


def release_page(manifest: Manifest, job: Job, attacks: AttackReport | None = None) -> str:
    """The whole page of one release."""
    attacked = "" if attacks is None else f"<h2>How it was attacked</h2>{attack_section(attacks)}"
    return _page(
        f"Release by {manifest.method.name}",
        f"<h1>What was published, and what it promises</h1>{release_fragment(manifest)}{attacked}"
        f"<h2>The job that made it</h2><pre>{escape(job.publishable_yaml())}</pre>"
        "<h2>How to check it</h2><p>Every promise above can be derived again from the published "
        "files alone: <code>discreet audit FOLDER</code>.</p>",
    )


def attack_page(attacks: AttackReport) -> str:
    """What attacks found, as a page of its own."""
    return _page("Attacks on a release", f"<h1>How it was attacked</h1>{attack_section(attacks)}")


def _page(title: str, body: str) -> str:
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )


def release_fragment(manifest: Manifest) -> str:
    """The findings of a release, for the page and for notebooks."""
    summary = "".join(f"<li>{escape(sentence)}</li>" for sentence in explain(manifest))
    return (
        f"<h2>In short</h2><ul>{summary}</ul>"
        f"<h2>Promises</h2>{_promise_table(manifest.promises)}"
        f"<h2>What it does not promise</h2>{_weaknesses(manifest)}"
        f"<h2>What it is worth</h2>{_figures(manifest.utility)}"
        f"<h2>Tables</h2>{_tables(manifest)}"
        f"<h2>Method</h2>{_figures(manifest.method.model_dump(mode='json'))}"
    )


def _weaknesses(manifest: Manifest) -> str:
    listed = "".join(f"<li>{escape(one)}</li>" for one in known_weaknesses(manifest))
    return (
        f"<ul>{listed}</ul><p>How far each reader gets: <code>discreet attack FOLDER "
        "--original JOB</code>.</p>"
    )


def _promise_table(promises: list[Promise]) -> str:
    rows = []
    for promise in promises:
        tone, word = ("good", "holds") if promise.holds else ("bad", "fails")
        mark = f"<span class='{tone}'>{word}</span>"
        asked, achieved = _inline(promise.parameters), _inline(promise.achieved)
        rows.append((escape(promise.requirement), asked, achieved, mark))
    return _table(("requirement", "asked", "achieved", "verdict"), rows)


def _tables(manifest: Manifest) -> str:
    rows = [
        (
            escape(entry.file),
            f"{entry.rows:,}",
            escape(", ".join(f"{name} ({role})" for name, role in entry.columns.items())),
        )
        for entry in manifest.tables.values()
    ]
    return _table(("file", "rows", "columns"), rows)


def _figures(figures: dict[str, Any]) -> str:
    return _table(("figure", "value"), [(escape(k), _inline(v)) for k, v in figures.items()])


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{escape(str(k))} = {_inline(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(f"[{_inline(v)}]" if isinstance(v, list) else _inline(v) for v in value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "unbounded" if value is None else escape(str(value))
