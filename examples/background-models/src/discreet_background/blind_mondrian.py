"""Mondrian by sizes alone, for m-confidentiality: no belief above 1/m by knowing the algorithm.

Wong, Fu, Wang and Pei, "Minimality attack in privacy preserving data publishing", 2007. A method
that generalizes no more than its requirements on sensitive values ask for discloses where finer
classes would have failed them. The paper's remedy (MASK) forms classes by quasi-identifiers and k
alone, and then distorts the values of classes that fail. Cells here are true: classes are formed in
the same way, and a table of which a class fails is not published.

Classes formed without a look at sensitive values are the same for every way in which the published
values can lie in them, and whether the release appears depends on the published counts alone. So
the attacker can rule out none of these ways, and the belief is the share in the class: with
``p-diversity``, ℓ = m, a release has m-confidentiality. An audit derives the shares from the files;
that groups were formed by sizes alone is what this method does, and no audit proves it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from pydantic import model_validator

from discreet.errors import InfeasibleError
from discreet.methods.base import Ability, Generalized, Spread, Task
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.mondrian.mondrian import Mondrian
from discreet.methods.shared.grouped_rows import require_all
from discreet.requirements.base import SizeRequirement
from discreet.table.persons import Keeping


class BlindMondrian(Mondrian):
    """Cut the table by the requirements on sizes alone; publish it if it meets the others too."""

    name: ClassVar[str] = "blind-mondrian"
    entry: ClassVar[type[MethodEntry]] = MethodEntry
    spread: ClassVar[Spread | None] = None  # parts would depend on where others were cut
    abilities: ClassVar[frozenset[Ability]] = Mondrian.abilities - {
        Ability.ATTACKERS,
        Ability.POPULATION,
    }

    @model_validator(mode="after")
    def _form_groups_alike(self) -> BlindMondrian:
        """Refuse cuts that break ties by the order of rows, so that groups are reproducible."""
        if self.cuts == "relaxed" or self.cells == "levels":
            raise ValueError("Use 'cuts: strict', and 'cells: free', 'grid' or 'blind'.")
        return self

    def unfit_for_persons(self, keeping: Keeping) -> str | None:
        return f"{self.name} cannot publish several rows of a person. Use mondrian"

    def run(self, task: Task) -> Generalized:
        """The classes of the sizes, or InfeasibleError where one does not meet the others."""
        sizes = [one for one in task.requirements if isinstance(one, SizeRequirement)]
        if not sizes:
            raise InfeasibleError(
                f"{self.name} forms groups by requirements on sizes, and the job has none. Add "
                "k-anonymity."
            )
        outcome = super().run(replace(task, requirements=sizes))
        require_all(
            task,
            outcome.class_of_row,
            f"{self.name}: its groups, formed without a look at sensitive values, do not meet the "
            "requirements",
            (
                "raise k (choose it before looking at results: to try one after another discloses "
                "that smaller ones failed)",
            ),
        )
        return outcome
