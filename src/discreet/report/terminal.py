"""Results on one screen of a terminal.

Every result has the same order: verdict, what is guaranteed, what is not covered, the figures that
matter most, and where to read more. ``--verbose`` adds what is left out here.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.job.parts import UNCHANGED
from discreet.releases.audit.audit import Audit
from discreet.releases.audit.files import REPORT
from discreet.releases.explanation import (
    certain_attackers,
    collapsed,
    explain_privately,
    guarantee_line,
    known_weaknesses,
    people_of_rows,
    persons_singled_out,
    rare_values,
    readers,
    treatment,
    uncomputed,
    uncovered,
    warnings,
)
from discreet.releases.manifest import Manifest, Promise, ReaderFinding, SinglingOut
from discreet.releases.measure import Utility
from discreet.releases.registry import kind_of
from discreet.releases.singling_out import singling_sentences
from discreet.report.risk_verdict import READY
from discreet.statements import Statement
from discreet.table.roles import Role, Unit
from discreet.utility.figures import Measures

if TYPE_CHECKING:
    from discreet.attacks.run import AttackReport
    from discreet.job.proposing.role_judgement import Proposal
    from discreet.job.table_profile import Profile
    from discreet.report.risk_verdict import RiskVerdict

RISKIEST = 3  # sets of quasi-identifiers that are shown
NAMED = 8  # columns of a role that are named
BULLET = "  - "
_MARGIN = re.compile(r" *(?:- )?")


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Break long sentences at a width, with the margin of their first line; tables stay whole."""
    result: list[str] = []
    for line in lines:
        margin = " " * len(_MARGIN.match(line)[0])  # type: ignore[index]
        if "  " in line.strip():  # columns of a table
            result.append(line)
        else:
            result += textwrap.wrap(
                line,
                width,
                subsequent_indent=margin,
                break_on_hyphens=False,
                break_long_words=False,
            ) or [""]
    return result


def published_lines(
    manifest: Manifest,
    private: Mapping[str, Any],
    place: Path,
    verdict: RiskVerdict,
    job: Path | str,
) -> list[str]:
    """Return what the publisher must know about a release that was just written."""
    # The conclusion about guarantees, and where to read more.
    count = len(manifest.promises)
    held = "1 guarantee holds" if count == 1 else f"all {count} guarantees hold"
    proved = held if count else "NOTHING IS GUARANTEED: the job states no requirement"
    reason = private.get("accepted_risk")
    accepted = [] if reason is None else [f"The risk was accepted: {reason}"]
    to_sign = place.with_name(f"{place.name}.private.html")
    report = [f"Report: {place / REPORT}", f"Private report: {to_sign}"]
    steps = [f"Find changes of the job for a better verdict: discreet repair {job}"]
    if verdict.word == READY:
        steps = [f"Next: sign the private report, then release {place}"]
    elif verdict.only_guesses:
        steps = [
            f"Next: decide the roles named under 'unconfirmed:' in {job}, delete that line, then: "
            f"discreet publish {job} --force"
        ]
    return [
        *verdict.lines(),
        *accepted,
        *warnings(manifest.promises),
        *(line for line in uncovered(manifest) if line not in verdict.remarks),
        *private.get("series", []),
        *(f"WARNING: {sentence}" for sentence in private.get("spellings", [])),
        f"Written to {place}: {proved}.",
        _rows(manifest, people_of_rows(manifest, private)),
        *collapsed(manifest),
        *rare_values(manifest),
        *private.get("notices", []),
        *_unique(
            persons_singled_out(private) or manifest.singling_out,
            judged=manifest.report_sha256 is not None,
        ),
        *_guaranteed(manifest.promises, manifest.unit, manifest),
        *_not_covered(manifest, manifest.readers),
        *_figures(private.get("utility", {})),
        *(report if manifest.report_sha256 else ()),
        *steps,
    ]


def published_details(manifest: Manifest, private: Mapping[str, Any]) -> list[str]:
    """Return what ``publish --verbose`` adds: the treatment of columns and private figures."""
    return [
        "",
        "Details",
        *treatment(manifest),
        *readers(manifest),
        *known_weaknesses(manifest),
        *explain_privately(manifest, private),
        *_seconds("Seconds", private.get("timings", {})),
        *_seconds("Seconds of attacks", private.get("attack_timings", {})),
    ]


def _seconds(title: str, timings: Mapping[str, float]) -> list[str]:
    """Return what took time, the slowest first."""
    slowest = sorted(timings.items(), key=lambda item: -item[1])
    shown = [f"{name} {seconds:.2f}" for name, seconds in slowest if seconds >= 0.01]
    return [f"{title}: {', '.join(shown)}."] if shown else []


def audit_lines(
    audit: Audit, manifest: Manifest, folder: Path, *, verbose: bool = False
) -> list[str]:
    """Return what an audit of one release found, the verdict first."""
    compared = (
        "compared with the original: nothing was lost or invented"
        if audit.compared and not audit.problems
        else "the original was not compared (--original JOB)"
    )
    lines = [f"{folder}: {_conclusion(audit)}"]
    lines += [*warnings(audit.promises), *uncovered(manifest)] if audit.ok else []
    if not audit.problems:
        lines.append(f"Files, manifest and row counts agree; {compared}.")
    lines += [f"{BULLET}Problem: {problem}" for problem in audit.problems]
    lines += _unique(audit.persons_singled_out or audit.singling_out)
    lines += ["", *_guaranteed(audit.promises, audit.unit, manifest)]
    if audit.ok:
        lines += _not_covered(manifest, audit.readers, in_full=verbose)
    lines += [f"Not checked: {remark}" for remark in audit.remarks]
    if audit.signed:
        lines.append("The manifest is signed by the trusted key.")
    if (folder / REPORT).exists():
        lines.append(f"Report: {folder / REPORT}")
    return lines


def attack_lines(report: AttackReport) -> list[str]:
    """Return the strongest attackers against a release."""
    targets = "" if report.estimated is None else " on the targets drawn"
    verdict = (
        f"No attack{targets} exceeds a guarantee of this release."
        if report.ok
        else "BROKEN: an attack exceeds a guarantee of this release."
    )
    lines = [verdict, report.summary, *filter(None, [report.counted, report.drawn])]
    lines += _unique(report.singling_out)
    if report.findings:
        lines += ["", *report.lines(), ""]
        lines.append(
            "newly certain: targets whose value is certain, and is not without the release; most, "
            "mean: belief in the true value; without: the same attacker's mean without the release."
        )
    lines += report.omissions
    lines.append(
        f"All {len(report.findings)} results and {len(report.inapplicable)} attacks that do not "
        "apply: --verbose. A page with plots: --page FILE."
    )
    return lines


def measure_lines(measures: Utility) -> list[str]:
    """Return the three figures of utility that matter most, and what learning found."""
    lines = ["Utility of the release against the original", *_headline(_summary_of(measures))]
    error = measures.query_error
    if error is not None and error.release.median is not None:
        base = error.unlinked.median
        beside = "" if base is None else f"; unlinked baseline: {base:.1%}"
        lines.append(_figure("query error", f"{error.release.median:.1%}", f"median{beside}"))
    of_persons = None if error is None or error.persons is None else error.persons.release.median
    if of_persons is not None:
        meaning = "median, where people are counted instead of rows"
        lines.append(_figure("of people", f"{of_persons:.1%}", meaning))
    if measures.learning is not None:
        lines += [f"  {line}" for line in measures.learning.lines()]
    return [*lines, "All measures: --verbose or --json. A page with plots: --page FILE."]


def profile_lines(profile: Profile, source: str) -> list[str]:
    """Return what identifies rows of a table, and what can be guaranteed."""
    # The table, and how unique its rows are.
    head = f"{source}: {profile.rows:,} rows, {len(profile.columns)} columns."
    known = "quasi-identifiers" if profile.proposals is None else "columns"
    if profile.risk is not None:
        head += (
            f" {profile.risk.unique_share:.1%} of the rows are unique by "
            f"{len(profile.quasi_identifiers)} {known} together."
        )
    lines = [head]
    if profile.persons is not None:
        from discreet.report.pages.profile_page import persons_sentence

        lines.append(persons_sentence(profile, profile.persons))
    lines += [f"{BULLET}{warning}" for warning in profile.warnings]
    # Roles, and what identifies rows.
    lines += ["", "Roles" + (" (a proposal)" if profile.proposals is not None else "")]
    lines += role_lines({column.name: column.role for column in profile.columns})
    if profile.subsets:
        lines.append(f"Riskiest sets of {known}")
        risky = sorted(profile.subsets, key=lambda s: (-round(s.unique_share, 3), len(s.columns)))
        lines += [
            f"  {entry.unique_share:>6.1%} unique   {', '.join(entry.columns)}"
            for entry in risky[:RISKIEST]
        ]
    # What can be guaranteed.
    if profile.sensitive:
        lines.append(
            f"{'Sensitive attributes':28} values  largest share  largest l with belief 1/l"
        )
        lines += [
            f"  {entry.name:26} {entry.values:>6,}  {entry.largest_share:>13.1%}  {entry.l_per:>9}"
            for entry in profile.sensitive[:NAMED]
        ]
        if len(profile.sensitive) > NAMED:
            lines.append(f"  and {len(profile.sensitive) - NAMED} more")
    for link in profile.links:
        share = link.single_rows / profile.rows if profile.rows else 0.0
        lines.append(
            f"The knowledge table links {share:.1%} of the rows to exactly one label through "
            f"'{link.name}'."
        )
    return [*lines, "All sets, bounds and associations: --verbose. A page: --page FILE."]


def role_lines(role_of_column: Mapping[str, str]) -> list[str]:
    """Return the columns of each role."""
    by_role: dict[str, list[str]] = {}
    for name, role in role_of_column.items():
        word = UNCHANGED if role == Role.INSENSITIVE else role  # as jobs are written today
        by_role.setdefault(word, []).append(name)
    return [f"  {role:17} {_some(names)}" for role, names in by_role.items()]


def proposal_lines(roles: Mapping[str, Proposal], *, verbose: bool) -> list[str]:
    """Return the columns whose roles are least certain; with ``verbose``, the reason of every role.

    A wrong role of an unchanged column costs most: nothing protects it.
    """
    if verbose:
        return [
            f"  {name}: {proposal.role}, {proposal.confidence} confidence: {proposal.reason}; "
            f"{proposal.if_wrong}"
            for name, proposal in roles.items()
        ]
    unsure = [name for name, proposal in roles.items() if proposal.confidence == "low"]
    unsure.sort(key=lambda name: roles[name].role is not Role.INSENSITIVE)
    return [f"Least certain, look at these first: {_some(unsure)}."] if unsure else []


def _rows(manifest: Manifest, people: str) -> str:
    gone = manifest.lost_rows
    suppressed = f"{gone:,} suppressed ({manifest.lost_share:.1%})" if gone else "none suppressed"
    tables = ", ".join(entry.file for entry in manifest.tables.values())
    return (
        f"{manifest.published_rows:,} of {manifest.all_rows:,} rows{people}, {suppressed}; "
        f"method '{manifest.method.name}'; {tables}."
    )


def _guaranteed(promises: Sequence[Promise], unit: Unit, manifest: Manifest) -> list[str]:
    if not promises:
        return []
    numbered = kind_of(manifest.kind).numbers_groups
    group = "one group number" if numbered else "equal quasi-identifiers"
    group += ", of persons with equally many" if manifest.keeping.numbered else ""
    proved = all(promise.holds for promise in promises)
    lines = [f"{'Guaranteed' if proved else 'Guarantees'} (a group: all rows with {group})"]
    return lines + [f"{BULLET}{guarantee_line(promise, unit)}" for promise in promises]


def _unique(singling_out: SinglingOut | None, *, judged: bool = False) -> list[str]:
    """Return how unique persons are; a verdict says it itself, if any are by unchanged columns.

    Exact quasi-identifiers are named beside every verdict: no guarantee is about them.
    """
    if singling_out is None:
        return []
    sentences = singling_sentences(singling_out)
    if not judged:
        return sentences[:2]
    told = singling_out.singled_out("2") > 0 or not singling_out.unchanged
    exact = [text for text in sentences if getattr(text, "id", "") == "singling.exact"]
    return exact if told else list(dict.fromkeys([sentences[0], *exact]))


def _not_covered(
    manifest: Manifest, findings: Sequence[ReaderFinding], *, in_full: bool = False
) -> list[str]:
    """Return what no guarantee covers; known weaknesses in full, or by their names in one line."""
    lines = [*certain_attackers(findings), *uncomputed(manifest, findings)]
    weaknesses = known_weaknesses(manifest)
    if in_full:
        return ["Not covered", *(f"{BULLET}{line}" for line in [*lines, *weaknesses])]
    names = (
        weakness.id.split(".")[1] if isinstance(weakness, Statement) else weakness
        for weakness in weaknesses
    )
    return [*lines, f"Not covered (--verbose explains): {', '.join(names)}."]


def _conclusion(audit: Audit) -> str:
    if not audit.ok:
        return "the release does NOT keep its guarantees."
    if not audit.promises:
        return "the release guarantees nothing."
    if not audit.unproved and audit.remarks:
        count = len(audit.remarks)
        checks = "1 check" if count == 1 else f"{count} checks"
        return f"every guarantee holds; {checks} could not be made (see 'Not checked')."
    if not audit.unproved:
        return "every guarantee holds."
    if len(audit.unproved) == len(audit.promises):
        return "its guarantees could not be checked."
    return (
        f"{len(audit.unproved)} of {len(audit.promises)} guarantees could not be checked; "
        "the others hold."
    )


def _summary_of(measures: Utility) -> dict[str, Any]:
    divergence = measures.divergence
    ratio = None if divergence is None else divergence.release.ratio
    unlinked = None if divergence is None else divergence.unlinked.ratio
    utility: dict[str, Any] = {"loss": measures.loss, "loss_sensitive": measures.loss_sensitive}
    if isinstance(measures, Measures):
        utility["terms"] = {n: terms.to_dict(private=False) for n, terms in measures.terms.items()}
    return utility | {"divergence": {"ratio": ratio, "unlinked": {"ratio": unlinked}}}


def _figures(utility: Mapping[str, Any]) -> list[str]:
    lines = _headline(utility)
    if utility.get("class_size") and len(lines) < 3:
        meaning = f"rows on average, in {utility['classes']:,} groups"
        lines.append(_figure("group size", f"{utility['class_size']:.1f}", meaning))
    return ["Utility against the original (private: not in the release)", *lines] if lines else []


def _headline(utility: Mapping[str, Any]) -> list[str]:
    lines = []
    if utility.get("loss") is not None:
        meaning = "of the quasi-identifiers; 0% = exact values, 100% = fully suppressed"
        lines.append(_figure("information loss", f"{utility['loss']:.1%}", meaning))
    if utility.get("loss_sensitive"):
        meaning = "of the sensitive values in the table remain possible for a row, on average"
        lines.append(_figure("possible values", f"{utility['loss_sensitive']:.1%}", meaning))
    for name, terms in (utility.get("terms") or {}).items():
        lines.append(_figure("terms removed", f"{terms['suppressed_share']:.1%}", f"of '{name}'"))
    divergence = utility.get("divergence", {})
    ratio, unlinked = divergence.get("ratio"), divergence.get("unlinked", {}).get("ratio")
    if ratio is not None and unlinked is not None:
        meaning = f"0 = same joint distribution as the original; unlinked baseline: {unlinked:.3f}"
        lines.append(_figure("divergence ratio", f"{ratio:.3f}", meaning))
    return lines


def _figure(name: str, figure: str, meaning: str) -> str:
    return f"  {name:17} {figure:>7}   {meaning}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
