"""Decomposition: exact quasi-identifiers, and for each group a set of values of each attribute.

Ye, Liu, Lv and Feng, "Decomposition: privacy preservation for multiple sensitive attributes".

===================  ==========================================================================
paper                here
===================  ==========================================================================
S^pri, l_pri         ``primary``, by default the attribute with the largest l_per; its ``l``
l_per                ``requirements.feasibility.permissible_ell``
Largest-l procedure  ``group_forming``
P(t, G)              the penalty in ``group_forming``
residual tuples      ``group_forming.join_residual_rows``
LSV(S^i, G), noise   ``noise``: narrower than the paper's, which T^S rules out;
                     ``noise.add_linkable_noise`` with ``noise: linkable``
T^S                  the published table ``sensitive``
===================  ==========================================================================

Departures. Ties of the penalty, which the paper leaves open, go to the commonest signature of the
bucket and then to chance. A noise value must be supported by a whole row of T^S within the group's
sets; with the paper's rule (it occurs with one of the group's primary values) an attacker with
three and more attributes rules some out; and some assignment of all people to all rows of T^S must
use it (``noise_support``). Where no such value exists, the group is merged with the nearest one by
quasi-identifiers, of the same size if there is one: in a merged group a primary value has at most
as many times 1/l_pri as it has rows, so the share stays within 1/l_pri. Group numbers are random.
``noise: linkable`` is the paper's rule instead: no group is merged, and the run ends where T^S
rules a value out. ``conditional_l`` bounds from below how many values remain for an attacker who
knows the primary value and uses T^S.

Cost: near-linear in the rows (``group_forming``); noise costs a look through the signatures of a
group's most selective attribute for each value; the paper's algorithm is quadratic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from discreet.errors import InfeasibleError, JobError
from discreet.methods.base import Ability, Decomposed, NoiseValues, ShardedMethod, Task
from discreet.methods.decomposition.group_forming import (
    form_groups,
    join_residual_rows,
    lacking_groups,
)
from discreet.methods.decomposition.group_merging import (
    SignatureGroups,
    exchange_rows,
    merge_lacking,
)
from discreet.methods.decomposition.insider import GROUP_SIZE, FilledGroups, hide_from_insiders
from discreet.methods.decomposition.noise import (
    NO_READER,
    PAIR,
    ROW,
    Noise,
    SensitiveTable,
    add_linkable_noise,
    add_noise,
    index_sensitive,
)
from discreet.methods.decomposition.noise_support import support_noise, without_assignment
from discreet.methods.decomposition.targets import Targets, find_targets
from discreet.methods.manifest_entry import MethodEntry, StatedRelease, bound_problems
from discreet.requirements.base import Requirement
from discreet.requirements.feasibility import diverse_ell
from discreet.requirements.sa_diversity import (
    ConditionalLDiversity,
    Reader,
    SaDiversity,
    with_attacker,
)
from discreet.statements import Statement
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import distinct_values
from discreet.table.published import GROUP
from discreet.typing import Bools, Ints, Ints32

READERS = {"pair": PAIR, "row": ROW}
MUCH_NOISE = 0.1  # of the listed values of an attribute: analysts are warned


class ConditionalL(BaseModel):
    """A floor under what an attacker keeps who knows the primary value and reads T^S."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    l: int = Field(ge=2, description="The least number of values left.")  # noqa: E741 (the job's key)
    attacker: Reader = Field(default="row", description="'pair', or 'row', which is stronger.")

    @model_validator(mode="before")
    @classmethod
    def _synonyms(cls, given: object) -> object:
        return with_attacker(given)


class DecompositionEntry(MethodEntry):
    """What a manifest says of decomposition."""

    blind_to_quasi_identifiers: ClassVar[bool] = True

    name: Literal["decomposition"]
    primary: str
    l: dict[str, PositiveInt]  # noqa: E741 (the manifest's key)
    groups: NonNegativeInt = 0

    def problems(self, release: StatedRelease) -> list[str]:
        promised: dict[str, int] = {}
        for parameters in release.promised:
            least, name = parameters.get("l"), parameters.get("attribute")
            if isinstance(least, Mapping):
                promised |= least
            elif isinstance(least, int) and isinstance(name, str):
                promised[name] = least
        return bound_problems(self.l, [{"l": {name: promised.get(name) for name in self.l}}])

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        if "noise_values" not in facts:
            return []
        merged = facts["merged_groups"]
        noise = Statement("decomposition.noise", noise_values=facts["noise_values"])
        much = [
            Statement(
                "warning",
                first=Statement(
                    "decomposition.much-noise", attribute=name, share=share, least=self.l[name]
                ),
            )
            for name, share in facts.get("noise_shares", {}).items()
            if share > MUCH_NOISE
        ]
        merging = [Statement("decomposition.merged", groups=merged)] if merged else []
        return [noise, *much, *merging]


class Decomposition(ShardedMethod):
    """Publish exact quasi-identifiers in groups that share sets of sensitive values."""

    name: ClassVar[str] = "decomposition"
    entry: ClassVar[type[MethodEntry]] = DecompositionEntry
    abilities: ClassVar[frozenset[Ability]] = frozenset({Ability.SENSITIVE_VALUES})

    primary: str | None = Field(
        default=None,
        description="The attribute that groups are formed on; by default the largest l_per.",
    )
    l: Mapping[str, PositiveInt] = Field(  # noqa: E741 (the job's key)
        default_factory=dict,
        description="The least number of values in a group, by attribute; by default l_per.",
    )
    beyond_permissible: bool = Field(
        default=False,
        description="Allow l above l_per, at the cost of noise; never for the primary one.",
    )
    conditional_l: ConditionalL | None = Field(
        default=None,
        description="The least number of values left to an attacker who knows the primary one.",
    )
    insider: bool = Field(
        default=False,
        description="Form larger groups and longer lists, and merge groups, until an attacker who "
        "knows one other sensitive value believes few sensitive ones above 1/l by the groups.",
    )
    prefer: Literal["nearby"] | None = Field(
        default=None, description="Form groups of rows with similar quasi-identifiers."
    )
    noise: Literal["supported", "linkable"] = Field(
        default="supported",
        description="Noise that whole sensitive rows support, or that occurs with a primary value "
        "of the group, as the paper has it; refused where an attacker can rule some of it out.",
    )

    @property
    def own_columns(self) -> tuple[str, ...]:
        return (GROUP,)

    def shard_attribute(self, task: Task) -> str:
        return self._targets(task).primary.name

    def promises(self, task: Task) -> tuple[Requirement, ...]:
        targets = self._targets(task)
        return _promises(targets, self._conditional(task, targets))

    def most_suppressed(self, rows: int) -> int:
        return 0

    def run(self, task: Task) -> Decomposed:
        """Groups, noise and what they promise, or InfeasibleError."""
        targets = self._targets(task)
        conditional = self._conditional(task, targets)
        columns = [targets.primary, *targets.others]
        ell = targets.ell[targets.primary.name]
        wanted = targets.wanted
        if conditional:
            wanted = [max(want, conditional.l) for want in wanted]
        size = ell
        if self.insider:
            largest = diverse_ell(targets.primary.counts, targets.masks[0])
            size = max(ell, min(GROUP_SIZE * ell, largest))
        formed = form_groups(targets.primary, targets.others, size, wanted, task, self.prefer)
        group_of_row = join_residual_rows(formed, targets.primary, targets.others, wanted, task.rng)
        task.progress(self.name, 0.7)
        short = formed.short
        if not all(mask.all() for mask in targets.masks):  # a residual row may expose a group
            short = lacking_groups(
                group_of_row, formed.groups, targets.others, targets.masks[1:], wanted
            )
        asked = np.ones(formed.groups, bool) if conditional else short
        if not (asked.any() or (self.insider and targets.others)):
            return self._outcome(targets, conditional, group_of_row, formed.groups, {}, 0)
        sensitive = index_sensitive(columns, task.table.rows, targets.masks)
        groups = SignatureGroups(group_of_row, formed.groups, sensitive.classes.class_of_row)
        if self.noise == "linkable":  # without longer lists
            noise = _linkable_noise(sensitive, groups, np.flatnonzero(asked), targets, task.rng)
            values = _by_attribute(noise, targets)
            return self._outcome(targets, None, group_of_row, formed.groups, values, 0)
        if conditional:
            _check_floor(sensitive, targets, conditional)
        covered = np.concatenate(_covered_values(targets, conditional))
        reader = READERS[conditional.attacker] if conditional else NO_READER
        floor = conditional.l if conditional else 0

        def fill(start: NDArray[np.int64], member: NDArray[np.int32]) -> Noise:
            least = [ell, *wanted]
            return add_noise(
                sensitive, start, member, least, task.rng, reader=reader, floor=floor,
                covered=covered,
            )  # fmt: skip

        noise = groups.fill(np.flatnonzero(asked), fill)
        if conditional:
            needed = np.bincount(noise.group, minlength=groups.groups) + noise.lacking.sum(axis=1)
            exchange_rows(groups, needed, targets.primary, fill, task.rng)
            noise = groups.fill(np.flatnonzero(asked), fill)
        merged = merge_lacking(groups, noise, fill, task)
        if merged.lacking is not None:
            raise _infeasible(merged.lacking, targets, sensitive)
        hidden = FilledGroups(merged.group_of_row, merged.groups, merged.noise)
        least = [ell, *wanted]
        if self.insider:
            hidden = hide_from_insiders(sensitive, hidden, least)
        noise = support_noise(
            sensitive, hidden.of_row, hidden.groups, hidden.noise, task.rng, least
        )
        if noise.lacking.any():
            worst = noise.lacking[noise.lacking.sum(axis=1).argmax()]
            raise _infeasible(worst, targets, sensitive)
        values = _by_attribute(noise, targets)
        joined = merged.merged + merged.groups - hidden.groups
        return self._outcome(targets, conditional, hidden.of_row, hidden.groups, values, joined)

    def _targets(self, task: Task) -> Targets:
        return find_targets(
            task, self.name, self.primary, self.l, beyond_permissible=self.beyond_permissible
        )

    def _conditional(self, task: Task, targets: Targets) -> ConditionalLDiversity | None:
        """The floor that the method or the job's requirements ask for; the higher one."""
        primary = targets.primary.name
        asked = [
            requirement
            for requirement in task.requirements
            if isinstance(requirement, ConditionalLDiversity)
        ]
        for requirement in asked:
            if requirement.known != primary:
                raise InfeasibleError(
                    f"{self.name}: the known attribute must be the primary one, '{primary}', not "
                    f"'{requirement.known}'. Make that one primary."
                )
        if self.conditional_l is not None and targets.others:  # else it would say nothing
            conditional = self.conditional_l
            stated = ConditionalLDiversity(
                l=conditional.l, attacker=conditional.attacker, known=primary
            )
            asked += [one for one in stated.sparing(targets.harmless, ()) if one not in asked]  # type: ignore[misc]
        if not asked:
            return None
        if self.noise == "linkable":
            raise JobError(
                [
                    f"method.{self.name}: 'noise: linkable' cannot guarantee "
                    "conditional-l-diversity. Use 'noise: supported'."
                ]
            )
        attacker: Reader = "row" if any(one.attacker == "row" for one in asked) else "pair"
        exempt = {
            name: tuple(
                value for value in values if all(value in _exempt(one, name) for one in asked)
            )
            for name, values in (asked[0].non_sensitive or {}).items()
        }
        return ConditionalLDiversity(
            l=max(one.l for one in asked), attacker=attacker, known=primary,
            non_sensitive={name: values for name, values in exempt.items() if values} or None,
        )  # fmt: skip

    def _outcome(
        self,
        targets: Targets,
        conditional: ConditionalLDiversity | None,
        group_of_row: NDArray[np.int32],
        groups: int,
        noise: Mapping[str, NoiseValues],
        merged: int,
    ) -> Decomposed:
        of_attribute = {name: len(values.value) for name, values in noise.items()}
        facts: dict[str, Any] = {
            "primary": targets.primary.name,
            "l": dict(targets.ell),
            "noise_values": sum(of_attribute.values()),
            "noise_by_attribute": of_attribute,
            "noise_shares": {
                column.name: _noise_share(group_of_row, column, of_attribute[column.name])
                for column in targets.others
                if of_attribute.get(column.name)
            },
            "groups": groups,
            "merged_groups": merged,
        }
        return Decomposed(group_of_row, noise, facts, _promises(targets, conditional))


def _exempt(requirement: ConditionalLDiversity, name: str) -> tuple[str | None, ...]:
    """The values of an attribute that a requirement lets be disclosed."""
    return (requirement.non_sensitive or {}).get(name, ())


def _covered_values(targets: Targets, conditional: ConditionalLDiversity | None) -> list[Bools]:
    """(values,) For the primary attribute and the others, which values the floor covers."""
    return [
        np.array(
            [conditional is None or text not in _exempt(conditional, column.name)
             for text in column.text.to_list()],
            np.bool_,
        )
        for column in (targets.primary, *targets.others)
    ]  # fmt: skip


def _promises(
    targets: Targets, conditional: ConditionalLDiversity | None
) -> tuple[Requirement, ...]:
    guarantees = targets.guarantees
    return tuple(guarantees) if conditional is None else (*guarantees, conditional)


def _by_attribute(noise: Noise, targets: Targets) -> dict[str, NoiseValues]:
    return {
        column.name: NoiseValues(*noise.of(place + 1))
        for place, column in enumerate(targets.others)
    }


def _noise_share(group_of_row: Ints32, column: Column, noise_values: int) -> float:
    """Return the share of noise in the listed values of an attribute."""
    pairs = group_of_row.astype(np.int64) * column.cardinality + column.codes
    return noise_values / (noise_values + len(distinct_values(pairs)))


def _check_floor(
    sensitive: SensitiveTable, targets: Targets, conditional: ConditionalLDiversity
) -> None:
    """Refuse a floor that some primary value cannot meet: it occurs with too few values."""
    primary = sensitive.codes[:, 0]
    masks = _covered_values(targets, conditional)
    for place, column in enumerate(targets.others):
        pairs = np.unique(np.stack([primary, sensitive.codes[:, place + 1]], axis=1), axis=0)
        values = targets.primary.cardinality
        present = np.bincount(pairs[:, 0], minlength=values)
        exposed = np.bincount(pairs[:, 0], masks[place + 1][pairs[:, 1]], values) > 0
        least = int(present[exposed].min(initial=conditional.l))
        if least < conditional.l:
            raise InfeasibleError(
                f"decomposition: conditional_l asks that {conditional.l} values of '{column.name}' "
                f"remain for an attacker who knows '{targets.primary.name}', but one of its values "
                f"occurs with {least} only. "
                + (f"Ask for at most {least}." if least > 1 else "Leave conditional_l out."),
                [
                    {
                        "requirement": conditional.name,
                        "parameters": conditional.parameters(),
                        "achieved": {"l": least},
                        "feasible": {"l": least} if least > 1 else {},
                    }
                ],
            )


def _linkable_noise(
    sensitive: SensitiveTable,
    groups: SignatureGroups,
    short: Ints,
    targets: Targets,
    rng: np.random.Generator,
) -> Noise:
    """Fill up the short groups, or InfeasibleError where noise is too little or is ruled out."""
    names = [targets.primary.name, *(column.name for column in targets.others)]
    least = [targets.ell[name] for name in names]

    def fill(start: Ints, member: Ints32) -> Noise:
        return add_linkable_noise(sensitive, start, member, least, rng)

    noise = groups.fill(short, fill)
    if noise.lacking.any():
        raise _refused("some group has too few linkable values", noise, 0, names, targets)
    gone = without_assignment(sensitive, groups.group_of_row, groups.groups, noise)
    if len(gone):
        reason = (
            f"{len(gone):,} of {len(noise.value):,} noise values can be ruled out with the "
            "sensitive table, although each is linkable: no assignment of all rows to groups was "
            "found that uses them"
        )
        raise _refused(reason, noise, len(gone), names, targets)
    return noise


def _refused(
    reason: str, noise: Noise, ruled_out: int, names: Sequence[str], targets: Targets
) -> InfeasibleError:
    left = np.array([targets.ell[name] for name in names]) - noise.lacking.max(axis=0)
    requirement = SaDiversity(l=dict(targets.ell))
    return InfeasibleError(
        f"decomposition: {reason}. Use 'noise: supported'.",
        [
            {
                "requirement": requirement.name,
                "parameters": requirement.parameters(),
                "achieved": dict(zip(names, left.tolist(), strict=True)),
                "feasible": {"noise": "supported"},
                "noise_values": len(noise.value),
                "ruled_out": ruled_out,
            }
        ],
    )


def _infeasible(
    lacking: NDArray[np.int32], targets: Targets, sensitive: SensitiveTable
) -> InfeasibleError:
    """The account of a group that no noise and no merging could fill."""
    columns = [targets.primary, *targets.others]
    parts = [
        f"'{column.name}' has {targets.ell[column.name] - lacking[place]} of "
        f"{targets.ell[column.name]} values"
        for place, column in enumerate(columns)
        if lacking[place] > 0
    ]
    feasible = {
        column.name: int(targets.ell[column.name] - max(lacking[place], 0))
        for place, column in enumerate(columns)
    }
    requirement = SaDiversity(l=dict(targets.ell))
    return InfeasibleError(
        f"decomposition: in some group {', '.join(parts)}; no value that an attacker cannot rule "
        "out can be added, and merging the group with others does not help: the attributes depend "
        "too closely on each other. Ask for fewer values, or make another attribute primary.",
        [
            {
                "requirement": requirement.name,
                "parameters": requirement.parameters(),
                "achieved": feasible,
                "feasible": feasible,
            }
        ],
    )
