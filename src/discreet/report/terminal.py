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

from discreet.releases.audit.audit import Audit
from discreet.releases.audit.files import REPORT
from discreet.releases.explanation import (
    certain_attackers,
    collapsed,
    explain_privately,
    guarantee_line,
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
from discreet.releases.weaknesses import known_weaknesses
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
    manifest: Manifest, private: Mapping[str, Any], place: Path, verdict: RiskVerdict
) -> list[str]:
    """Return what the publisher must know about a release that was just written."""
    count = len(manifest.promises)
    kept = "1 guarantee holds" if count == 1 else f"all {count} guarantees hold"
    proved = kept if count else "NOTHING IS GUARANTEED: the job states no requirement"
    reason = private.get("accepted_risk")
    accepted = [] if reason is None else [f"The risk was accepted: {reason}"]
    report = [
        f"Report: {place / REPORT}",
        f"Private report: {place.with_name(place.name + '.private.html')}",
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
        *_not_covered(manifest, manifest.readers, in_full=False),
        *_figures(private.get("utility", {})),
        *(report if manifest.report_sha256 else ()),
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
    ]


def audit_lines(found: Audit, manifest: Manifest, folder: Path) -> list[str]:
    """Return what an audit of one release found."""
    compared = (
        "compared with the original: nothing was lost or invented"
        if found.compared and not found.problems
        else "the original was not compared (--original JOB)"
    )
    lines = [*warnings(found.promises), *uncovered(manifest)] if found.ok else []
    lines.append(f"{folder}: {_conclusion(found)}")
    if not found.problems:
        lines.append(f"Files, manifest and row counts agree; {compared}.")
    lines += [f"{BULLET}Problem: {problem}" for problem in found.problems]
    lines += _unique(found.persons_singled_out or found.singling_out)
    lines += ["", *_guaranteed(found.promises, found.unit, manifest)]
    if found.ok:
        lines += _not_covered(manifest, found.readers)
    lines += [f"Not checked: {remark}" for remark in found.remarks]
    if found.signed:
        lines.append("The manifest is signed by the trusted key.")
    if (folder / REPORT).exists():
        lines.append(f"Report: {folder / REPORT}")
    return lines


def attack_lines(found: AttackReport) -> list[str]:
    """Return the strongest attackers against a release."""
    targets = "" if found.estimated is None else " on the targets drawn"
    verdict = (
        f"No attack{targets} exceeds a guarantee of this release."
        if found.ok
        else "BROKEN: an attack exceeds a guarantee of this release."
    )
    lines = [verdict, found.summary, *filter(None, [found.counted, found.drawn])]
    lines += _unique(found.singling_out)
    if found.findings:
        lines += ["", *found.lines(), ""]
        lines.append(
            "newly certain: targets whose value is certain, and is not without the release; most, "
            "mean: belief in the true value; without: the same attacker's mean without the release."
        )
    lines += found.omissions
    lines.append(
        f"All {len(found.findings)} results and {len(found.inapplicable)} attacks that do not "
        "apply: --verbose. A page with plots: --page FILE."
    )
    return lines


def measure_lines(found: Utility) -> list[str]:
    """Return the three figures of utility that matter most, and what learning found."""
    lines = ["Utility of the release against the original", *_headline(_summary_of(found))]
    error = found.query_error
    if error is not None and error.release.median is not None:
        base = error.unlinked.median
        beside = "" if base is None else f"; unlinked baseline: {base:.1%}"
        lines.append(_figure("query error", f"{error.release.median:.1%}", f"median{beside}"))
    of_persons = None if error is None or error.persons is None else error.persons.release.median
    if of_persons is not None:
        said = "median, where people are counted instead of rows"
        lines.append(_figure("of people", f"{of_persons:.1%}", said))
    if found.learning is not None:
        lines += [f"  {line}" for line in found.learning.lines()]
    return [*lines, "All measures: --verbose or --json. A page with plots: --page FILE."]


def profile_lines(found: Profile, source: str) -> list[str]:
    """Return what identifies rows of a table, and what can be guaranteed."""
    head = f"{source}: {found.rows:,} rows, {len(found.columns)} columns."
    known = "quasi-identifiers" if found.proposals is None else "columns"
    if found.risk is not None:
        head += (
            f" {found.risk.unique_share:.1%} of the rows are unique by "
            f"{len(found.quasi_identifiers)} {known} together."
        )
    lines = [head]
    if found.persons is not None:
        from discreet.report.profile_view import persons_sentence  # rich takes time to import

        lines.append(persons_sentence(found, found.persons))
    lines += [f"{BULLET}{warning}" for warning in found.warnings]
    lines += ["", "Roles" + (" (a proposal)" if found.proposals is not None else "")]
    lines += role_lines({column.name: column.role for column in found.columns})
    if found.subsets:
        lines.append(f"Riskiest sets of {known}")
        risky = sorted(found.subsets, key=lambda s: (-round(s.unique_share, 3), len(s.columns)))
        lines += [
            f"  {one.unique_share:>6.1%} unique   {', '.join(one.columns)}"
            for one in risky[:RISKIEST]
        ]
    if found.sensitive:
        lines.append(
            f"{'Sensitive attributes':28} values  largest share  largest l with belief 1/l"
        )
        lines += [
            f"  {one.name:26} {one.values:>6,}  {one.largest_share:>13.1%}  {one.l_per:>9}"
            for one in found.sensitive[:NAMED]
        ]
        if len(found.sensitive) > NAMED:
            lines.append(f"  and {len(found.sensitive) - NAMED} more")
    for link in found.links:
        share = link.single_rows / found.rows if found.rows else 0.0
        lines.append(
            f"The knowledge table links {share:.1%} of the rows to exactly one label through "
            f"'{link.name}'."
        )
    return [*lines, "All sets, bounds and associations: --verbose. A page: --page FILE."]


def role_lines(role_of_column: Mapping[str, str]) -> list[str]:
    """Return the columns of each role."""
    by_role: dict[str, list[str]] = {}
    for name, role in role_of_column.items():
        by_role.setdefault(role, []).append(name)
    return [f"  {role:17} {_some(names)}" for role, names in by_role.items()]


def proposal_lines(roles: Mapping[str, Proposal], *, verbose: bool) -> list[str]:
    """Return the columns whose roles are least certain; with ``verbose``, the reason of every role.

    A wrong role of an insensitive column costs most: nothing protects it.
    """
    if verbose:
        return [
            f"  {name}: {one.role}, {one.confidence} confidence: {one.reason}; {one.if_wrong}"
            for name, one in roles.items()
        ]
    unsure = [name for name, one in roles.items() if one.confidence == "low"]
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


def _unique(found: SinglingOut | None, *, judged: bool = False) -> list[str]:
    """Return how unique persons are; a verdict that follows says it itself, if any are.

    Before a verdict, a release without unchanged columns has nothing to add to its guarantees.
    """
    if found is None or (judged and (found.singled_out("2") > 0 or not found.unchanged)):
        return []
    return singling_sentences(found)[: 1 if judged else 2]


def _not_covered(
    manifest: Manifest, findings: Sequence[ReaderFinding], *, in_full: bool = True
) -> list[str]:
    """Return what no guarantee covers; known weaknesses in full, or by their names in one line."""
    lines = [*certain_attackers(findings), *uncomputed(manifest, findings)]
    weaknesses = known_weaknesses(manifest)
    if in_full:
        lines += weaknesses
    else:
        names = (one.id.split(".")[1] if isinstance(one, Statement) else one for one in weaknesses)
        lines.append(f"Known weaknesses (--verbose explains them): {', '.join(names)}.")
    return ["Not covered", *(f"{BULLET}{line}" for line in lines)] if lines else []


def _conclusion(found: Audit) -> str:
    if not found.ok:
        return "the release does NOT keep its guarantees."
    if not found.promises:
        return "the release guarantees nothing."
    if not found.unproved and found.remarks:
        count = len(found.remarks)
        checks = "1 check" if count == 1 else f"{count} checks"
        return f"every guarantee holds; {checks} could not be made (see 'Not checked')."
    if not found.unproved:
        return "every guarantee holds."
    if len(found.unproved) == len(found.promises):
        return "its guarantees could not be checked."
    return (
        f"{len(found.unproved)} of {len(found.promises)} guarantees could not be checked; "
        "the others hold."
    )


def _summary_of(found: Utility) -> dict[str, Any]:
    divergence = found.divergence
    ratio = None if divergence is None else divergence.release.ratio
    unlinked = None if divergence is None else divergence.unlinked.ratio
    utility: dict[str, Any] = {"loss": found.loss, "loss_sensitive": found.loss_sensitive}
    if isinstance(found, Measures):
        utility["terms"] = {n: one.to_dict(private=False) for n, one in found.terms.items()}
    return utility | {"divergence": {"ratio": ratio, "unlinked": {"ratio": unlinked}}}


def _figures(utility: Mapping[str, Any]) -> list[str]:
    lines = _headline(utility)
    if utility.get("class_size") and len(lines) < 3:
        said = f"rows on average, in {utility['classes']:,} groups"
        lines.append(_figure("group size", f"{utility['class_size']:.1f}", said))
    return ["Utility against the original (private: not in the release)", *lines] if lines else []


def _headline(utility: Mapping[str, Any]) -> list[str]:
    lines = []
    if utility.get("loss") is not None:
        said = "of the quasi-identifiers; 0 % = exact values, 100 % = fully suppressed"
        lines.append(_figure("information loss", f"{utility['loss']:.1%}", said))
    if utility.get("loss_sensitive"):
        said = "of the sensitive values in the table remain possible for a row, on average"
        lines.append(_figure("possible values", f"{utility['loss_sensitive']:.1%}", said))
    for name, terms in (utility.get("terms") or {}).items():
        lines.append(_figure("terms removed", f"{terms['suppressed_share']:.1%}", f"of '{name}'"))
    divergence = utility.get("divergence", {})
    ratio, unlinked = divergence.get("ratio"), divergence.get("unlinked", {}).get("ratio")
    if ratio is not None and unlinked is not None:
        said = f"0 = same joint distribution as the original; unlinked baseline: {unlinked:.3f}"
        lines.append(_figure("divergence ratio", f"{ratio:.3f}", said))
    return lines


def _figure(name: str, figure: str, said: str) -> str:
    return f"  {name:17} {figure:>7}   {said}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
