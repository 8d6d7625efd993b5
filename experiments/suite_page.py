"""The page of the suite, made from its rows alone: a table, and a figure for each question."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
from experiments.harness import markdown
from experiments.plots import PlotPoint, plot
from experiments.suite import MEASURES, METHODS, OF_ELL, OF_PEOPLE, PUBLIC, TIMES, read_rows
from experiments.suite_tables import (
    CORRELATION,
    CORRELATIONS,
    SKEW,
    SKEWS,
    TABLES,
    generated_name,
)

# 97.5 % quantiles of Student's t by degrees of freedom; beyond, the normal one is near enough
QUANTILES = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
BY = ("table", "sensitive", "method", "l")


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """A line for each table, number of attributes, method and ℓ: means and 95 % intervals.

    Intervals are Student's over seeds, that is over samples of the table; none for one seed.
    """
    lines = []
    for key, part in rows.group_by(BY, maintain_order=True):
        line = dict(zip(BY, key, strict=True))
        line["runs"] = len(part)
        line["infeasible"] = part["failure"].fill_null("").str.len_chars().gt(0).sum()
        for name in MEASURES:
            figures = part[name].drop_nulls()
            mean = figures.mean()
            line[name] = mean
            spread = None
            if len(figures) > 1:
                deviation = figures.std()
                quantile = QUANTILES[min(len(figures) - 2, len(QUANTILES) - 1)]
                spread = quantile * deviation / len(figures) ** 0.5
            line[f"{name} ±"] = spread
        line["method_seconds"] = part["method_seconds"].drop_nulls().median()
        lines.append(line)
    types = dict.fromkeys((*MEASURES, *(f"{name} ±" for name in MEASURES)), pl.Float64)
    return pl.DataFrame(lines, schema_overrides=types, infer_schema_length=None)


def write_page(results: Path, page: Path) -> Path:
    """Write the page, and its figures beside the results."""
    rows = read_rows(results)
    lines = summary(rows)
    folder = results.parent
    for name, (title, axes, joined, drawn) in figures(lines).items():
        plot(folder / name, title, axes, drawn, joined=joined)
    beside = Path(os.path.relpath(folder, page.parent)).as_posix()
    text = page_of(rows, lines, results.name, "" if beside == "." else f"{beside}/")
    page.write_text(text, encoding="utf-8")
    return page


Figure = tuple[str, tuple[str, str], bool, dict[str, list[PlotPoint]]]


def figures(lines: pl.DataFrame) -> dict[str, Figure]:
    """The figures by file: title, names of the axes, whether points are joined, and lines."""
    public = lines.filter(pl.col("table").is_in(PUBLIC), pl.col("sensitive") == 2)
    skew = {generated_name(one, CORRELATION): one for one in SKEWS}
    related = {generated_name(SKEW, one): one for one in CORRELATIONS}
    lost = "error of associations (1: as without a link)"
    several = lines.filter(
        pl.col("table") == generated_name(SKEW, CORRELATION), pl.col("l") == OF_ELL
    )
    return {
        "suite-belief.svg": (
            f"Error of associations against belief, l = {OF_ELL}, mean of the public tables",
            ("mean belief of an acquaintance in the true value", lost),
            False,
            _scatter(public.filter(pl.col("l") == OF_ELL)),
        ),
        "suite-l.svg": (
            "What l costs: mean of the public tables that every l allows",
            ("l", lost),
            True,
            _over_tables(public),
        ),
        "suite-skew.svg": (
            f"What skew costs: generated tables, correlation {CORRELATION:g}, l = {OF_ELL}",
            ("skew: shares of values fall as 1/rank^skew", lost),
            True,
            _across(lines.filter(pl.col("sensitive") == 2), skew),
        ),
        "suite-correlation.svg": (
            f"What correlation costs: generated tables, skew {SKEW:g}, l = {OF_ELL}",
            ("correlation of all attributes", lost),
            True,
            _across(lines.filter(pl.col("sensitive") == 2), related),
        ),
        "suite-attributes.svg": (
            f"What d costs: generated table, skew {SKEW:g}, correlation {CORRELATION:g}, "
            f"l = {OF_ELL}",
            ("sensitive attributes", lost),
            True,
            _by_method(several, "sensitive", "pair_error"),
        ),
        "suite-insider.svg": (
            f"What an insider believes: generated table, skew {SKEW:g}, l = {OF_ELL}",
            ("sensitive attributes", "mean belief of an insider in the true value"),
            True,
            _by_method(several, "sensitive", "insider_mean"),
        ),
    }


def _scatter(part: pl.DataFrame) -> dict[str, list[PlotPoint]]:
    """A mark for each method: over the tables on which all methods that can be drawn have runs."""
    found = {}
    for method, mine in _of_methods(_where_all_run(part, ("table",))):
        belief, lost = mine["acquaintance_mean"].mean(), mine["pair_error"].mean()
        found[method] = [PlotPoint(float(belief), float(lost))]
    return found


def _over_tables(part: pl.DataFrame) -> dict[str, list[PlotPoint]]:
    """A line for each method: means over the tables that have a release at every ℓ."""
    held = _where_all_run(part, ("table", "l"))
    levels = held["l"].n_unique()
    whole = held.group_by("table").agg(pl.col("l").n_unique()).filter(pl.col("l") == levels)
    held = held.filter(pl.col("table").is_in(whole["table"].implode()))
    means = held.group_by("method", "l", maintain_order=True).agg(
        pl.col("pair_error").mean(),
        (pl.col("pair_error ±").pow(2).sum().sqrt() / pl.len()).alias("pair_error ±"),
    )
    return _by_method(means, "l", "pair_error")


def tables_of_ell(lines: pl.DataFrame) -> list[str]:
    """The tables that the figure of ℓ is about."""
    part = lines.filter(pl.col("table").is_in(PUBLIC), pl.col("sensitive") == 2)
    held = _where_all_run(part, ("table", "l"))
    levels = held["l"].n_unique()
    whole = held.group_by("table", maintain_order=True).agg(pl.col("l").n_unique())
    return whole.filter(pl.col("l") == levels)["table"].to_list()


def _where_all_run(part: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The lines of those tables (and ℓ) in which as many methods have a release as in any."""
    held = part.filter(pl.col("pair_error").is_not_null())
    counts = held.group_by(by).agg(pl.col("method").n_unique().alias("methods"))
    most = counts["methods"].max() or 0
    return held.join(counts.filter(pl.col("methods") == most), on=list(by), maintain_order="left")


def _across(part: pl.DataFrame, place_of_table: Mapping[str, float]) -> dict[str, list[PlotPoint]]:
    chosen = part.filter(pl.col("table").is_in(list(place_of_table)), pl.col("l") == OF_ELL)
    placed = chosen.with_columns(
        pl.col("table").replace_strict(place_of_table, return_dtype=pl.Float64).alias("place")
    )
    return _by_method(placed, "place", "pair_error")


def _by_method(part: pl.DataFrame, across: str, measure: str) -> dict[str, list[PlotPoint]]:
    found = {}
    for method, mine in _of_methods(part.filter(pl.col(measure).is_not_null())):
        columns = (mine.sort(across)[name].to_list() for name in (across, measure, f"{measure} ±"))
        found[method] = [
            PlotPoint(float(x), y, *((None, None) if spread is None else (y - spread, y + spread)))
            for x, y, spread in zip(*columns, strict=True)
        ]
    return found


def _of_methods(part: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """The lines of each method that has any, in the order of the suite; others come last."""
    named = part["method"].unique(maintain_order=True).to_list()
    order = [name for name in METHODS if name in named]
    order += [name for name in named if name not in METHODS]
    return [(name, part.filter(pl.col("method") == name)) for name in order]


def page_of(rows: pl.DataFrame, lines: pl.DataFrame, name: str, beside: str) -> str:
    """Return the page as Markdown; `beside` leads from it to the folder of the results."""
    main = lines.filter(pl.col("table").is_in(PUBLIC), pl.col("sensitive") == 2)
    hours = rows["row_seconds"].sum() / 60
    commits = ", ".join(sorted({str(one) for one in rows["commit"].drop_nulls()}))
    versions = ", ".join(sorted({str(one) for one in rows["version"]}))
    failed = rows.filter(pl.col("failure").fill_null("").str.len_chars() > 0)
    parts = [
        "# The suite: all methods on all tables",
        "`python -m experiments suite --output suite.csv` runs it (an interrupted run goes on "
        "where it ended), `python -m experiments suite --page "
        f"experiments/results/suite.md --output docs/experiments/{name}` makes this page from "
        f"[the rows]({beside}{name}) alone. {len(rows):,} runs, {len(failed):,} of them "
        f"infeasible, {hours:.0f} minutes of processor time; version "
        f"{versions}, commit {commits}. A second run of "
        "this commit gives the same rows apart from times.",
        SETTING,
        "## Which method keeps associations at which belief",
        f"![Error of associations against belief]({beside}suite-belief.svg)\n\n"
        f"Mean of {_listed(_tables(main))}, the tables on which most methods have a release at "
        f"ℓ = {OF_ELL}. Low and left is "
        "better; the baseline `unlinked` has an error of 1. " + bounded(rows),
        overview(lines),
        "## What ℓ costs",
        f"![Error of associations against l]({beside}suite-l.svg)\n\n"
        f"Mean of {_listed(tables_of_ell(lines))}, the tables that allow every ℓ.",
        "## What skew costs",
        f"![Error of associations against skew]({beside}suite-skew.svg)",
        "## What correlation costs",
        f"![Error of associations against correlation]({beside}suite-correlation.svg)",
        "## What more sensitive attributes cost",
        "![Error of associations against the number of attributes]"
        f"({beside}suite-attributes.svg)\n\n"
        f"![What an insider believes]({beside}suite-insider.svg)",
        "## Main table",
        f"Two sensitive attributes, ℓ = {OF_ELL}. *Associations* is the error of the two-way "
        "tables of quasi-identifiers with sensitive attributes, *between* of those of sensitive "
        "attributes with each other: sums of absolute differences over those of independent "
        "columns, so that 0 is the original, 1 as without a link, and more where a release tells "
        "less of pairs than that. *Error* is the median relative error of counting queries; "
        "beliefs are means. "
        "± is half of a 95 % interval over seeds.",
        main_table(main.filter(pl.col("l") == OF_ELL)),
        "The rows have further measures (99th percentiles, shares of beliefs above one half), "
        f"other ℓ, and {OF_PEOPLE} and a generated table with more attributes.",
        "## Tables",
        markdown([_described(table) for table in TABLES]),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


SETTING = """\
Every seed draws 2,000 rows of a table (at most 80 % of its rows), or new rows of a generated one;
intervals are over seeds, that is over samples of the table, not over populations. `mondrian`,
`local-recoding` and `codip` keep p-diversity (no value above 1/ℓ in a group), `msa-diversity`
m-diversity, `decomposition` lists of ℓ values, which bound no belief. The others promise nothing
that is audited and get the parameter nearest to ℓ: `gal`, `li-ye` and `mmdcf` their own ℓ, `mdav`
groups of ℓ rows, `swapping` and `pram` a rate of 1 − 1/ℓ, `slicing` columns in buckets in which at
most 1/ℓ of the rows that look alike have a value. An acquaintance knows a person's
quasi-identifiers, an insider one other sensitive value as well; both know the method and its rate.
The baseline `unlinked` is two tables without a link: what is believed of it the data alone say."""


def bounded(rows: pl.DataFrame) -> str:
    """Which methods keep the belief of an acquaintance within 1/ℓ for 99 of 100 people."""
    held = rows.filter(pl.col("acquaintance_99").is_not_null()).with_columns(
        within=pl.col("acquaintance_99") <= 1 / pl.col("l") + 1e-5
    )
    parts = {method: part["within"].mean() for method, part in _of_methods(held)}
    always = [f"`{method}`" for method, share in parts.items() if share == 1]
    others = [f"`{method}` ({share:.0%})" for method, share in parts.items() if share < 1]
    return (
        "In every run that has a release an acquaintance believes the values of 99 in 100 people "
        f"with at most 1/ℓ by {_listed(always)}; of the runs of the others in part: "
        f"{_listed(others)}."
    )


def overview(lines: pl.DataFrame) -> str:
    """A line for each method: means over the public tables on which most methods have a release."""
    public = lines.filter(
        pl.col("table").is_in(PUBLIC), pl.col("sensitive") == 2, pl.col("l") == OF_ELL
    )
    shown = {
        "associations": "pair_error",
        "counts": "query_error",
        "acquaintance": "acquaintance_mean",
        "insider": "insider_mean",
    }
    rows = []
    for method, part in _of_methods(_where_all_run(public, ("table",))):
        means = {head: part[name].mean() for head, name in shown.items()}
        rows.append(
            {"method": f"`{method}`"}
            | {head: "–" if mean is None else f"{mean:.2f}" for head, mean in means.items()}
        )
    return markdown(rows)


def main_table(lines: pl.DataFrame) -> str:
    """The main table: a line for each table and method."""
    shown = {
        "associations": "pair_error",
        "between": "pair_error_between_sensitive",
        "error": "query_error",
        "suppressed": "suppressed",
        "acquaintance": "acquaintance_mean",
        "insider": "insider_mean",
    }
    rows = []
    for line in lines.sort("table", maintain_order=True).iter_rows(named=True):
        row = {"table": line["table"], "method": f"`{line['method']}`"}
        row["runs"] = f"{line['runs'] - line['infeasible']} of {line['runs']}"
        for head, name in shown.items():
            spread = line[f"{name} ±"]
            row[head] = "–" if line[name] is None else f"{line[name]:.3f}"
            if spread is not None and line[name] is not None:
                row[head] += f" ± {spread:.3f}"
        rows.append(row)
    return markdown(rows)


def _tables(main: pl.DataFrame) -> list[str]:
    part = _where_all_run(main.filter(pl.col("l") == OF_ELL), ("table",))
    return part["table"].unique(maintain_order=True).to_list()


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names) or "none"


def _described(name: str) -> dict[str, object]:
    table = TABLES[name]
    return {
        "table": name,
        "quasi-identifiers": ", ".join(part.partition(":")[0] for part in table.quasi),
        "sensitive attributes, in order": ", ".join(table.sensitive),
        "SHA-256 of these columns": f"`{table.sha256[:16]}…`" if table.sha256 else "generated",
    }


__all__ = ["TIMES", "figures", "main_table", "overview", "page_of", "summary", "write_page"]
