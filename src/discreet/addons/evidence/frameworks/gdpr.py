"""GDPR, recital 26, by the criteria of the Article 29 Working Party (opinion 05/2014, WP 216)."""

from __future__ import annotations

from discreet.addons.evidence.document import EvidenceSection, Paragraph, ToWrite
from discreet.addons.evidence.facts import ReleaseFacts
from discreet.addons.evidence.parts import (
    criterion_parts,
    guarantee_parts,
    joined_parts,
    left_out_parts,
    open_parts,
    release_parts,
    risk_parts,
    technique_parts,
    threshold_parts,
    variable_parts,
)
from discreet.attacks.base import Criterion

TITLE = "Anonymity of a release, GDPR recital 26"
ABOUT = (
    "Recital 26 asks for all means reasonably likely to be used to identify a person, directly or "
    "indirectly. Opinion 05/2014 of the Article 29 Working Party (WP 216) asks whether a person "
    "can be singled out, linked, or the subject of inference. This pack holds figures for that "
    "judgement, not the judgement.",
)


def sections(facts: ReleaseFacts) -> tuple[EvidenceSection, ...]:
    """The sections by criterion."""
    return (
        EvidenceSection("1. The data", "Data", joined_parts(release_parts(facts))),
        EvidenceSection(
            "2. Means reasonably likely to be used",
            "Means",
            joined_parts(
                variable_parts(facts),
                [
                    ToWrite(
                        "who receives the data, with which other data, and the cost, time and "
                        "technology that identification needs today and in the years to come."
                    )
                ],
            ),
        ),
        EvidenceSection(
            "3. Techniques and guarantees",
            "Techniques",
            joined_parts(technique_parts(facts), guarantee_parts(facts)),
        ),
        EvidenceSection(
            "4. Singling out",
            "Singling out",
            joined_parts(
                [Paragraph("Can a person's row be isolated?")],
                risk_parts(facts),
                criterion_parts(facts, Criterion.SINGLING_OUT),
                [Paragraph("No law names a number; these thresholds are for orientation.")],
                threshold_parts(facts),
            ),
        ),
        EvidenceSection(
            "5. Linkability",
            "Linkability",
            joined_parts(
                [
                    Paragraph(
                        "Can records of the same person be linked, within the release or with "
                        "another?"
                    )
                ],
                criterion_parts(facts, Criterion.LINKABILITY),
                [ToWrite("earlier and later releases about the same people, or that none exist.")],
            ),
        ),
        EvidenceSection(
            "6. Inference",
            "Inference",
            joined_parts(
                [Paragraph("Can a value be deduced with significant probability?")],
                criterion_parts(facts, Criterion.INFERENCE),
                left_out_parts(facts),
            ),
        ),
        EvidenceSection(
            "7. Residual risk",
            "Residual risk",
            joined_parts(
                [Paragraph("The guarantees do not cover the following.")],
                open_parts(facts),
                [
                    ToWrite(
                        "whether the original is kept, and who could link it to the release: while "
                        "the controller can, the data may remain personal in its hands (WP 216)."
                    ),
                    ToWrite("the legal basis of anonymizing, and when the risk is assessed again."),
                    ToWrite("the conclusion: anonymous or not, for whom, and why."),
                ],
            ),
        ),
    )
