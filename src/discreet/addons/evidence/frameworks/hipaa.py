"""HIPAA Privacy Rule, 45 CFR 164.514: Safe Harbor (b)(2), expert determination (b)(1), codes (c).

The principles of expert determination are those of the Office for Civil Rights (Guidance regarding
methods for de-identification of protected health information, 2012).
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.addons.evidence.document import EvidenceSection, PackPart, Paragraph, ToWrite
from discreet.addons.evidence.facts import ReleaseFacts
from discreet.addons.evidence.parts import (
    attack_parts,
    guarantee_parts,
    identifier_parts,
    joined_parts,
    open_parts,
    release_parts,
    risk_parts,
    technique_parts,
    threshold_parts,
    variable_parts,
)

TITLE = "De-identification, HIPAA 45 CFR 164.514"
ABOUT = (
    "The rule knows two ways: Safe Harbor (b)(2) or expert determination (b)(1). One of them is "
    "enough. This pack holds what was computed for both; it is not the determination of an expert.",
)


def sections(facts: ReleaseFacts) -> tuple[EvidenceSection, ...]:
    """The sections of both ways."""
    return (
        EvidenceSection("The data", "Data", joined_parts(release_parts(facts))),
        EvidenceSection(
            "Safe Harbor, 164.514(b)(2)(i): the 18 identifiers",
            "Safe Harbor",
            joined_parts(
                identifier_parts(facts),
                [ToWrite("a decision about each column that is found or to be looked at.")],
            ),
        ),
        EvidenceSection(
            "Safe Harbor, 164.514(b)(2)(ii): actual knowledge",
            "Actual knowledge",
            (
                ToWrite(
                    "that the covered entity has no actual knowledge that the remaining "
                    "information could identify a person, alone or with other information. No "
                    "program can know this."
                ),
            ),
        ),
        EvidenceSection(
            "Expert determination, 164.514(b)(1): the expert",
            "Expert",
            (
                ToWrite(
                    "name, and knowledge of and experience with accepted statistical and "
                    "scientific principles and methods of de-identification."
                ),
                ToWrite("the anticipated recipients, and which controls and contracts bind them."),
            ),
        ),
        EvidenceSection(
            "Expert determination: principles",
            "Principles",
            joined_parts(
                variable_parts(facts),
                [
                    ToWrite("replicability: which columns are stable over time for a person."),
                    ToWrite(
                        "data source availability: which public or commercial sources hold the "
                        "quasi-identifiers with names."
                    ),
                    Paragraph("Distinguishability was computed; see the risk below."),
                ],
            ),
        ),
        EvidenceSection(
            "Expert determination: methods and results",
            "Results",
            joined_parts(
                technique_parts(facts),
                guarantee_parts(facts),
                risk_parts(facts),
                [
                    Paragraph(
                        "The rule asks for a risk that is very small and names no number. Other "
                        "regulators' thresholds are beside the figures for orientation."
                    )
                ],
                threshold_parts(facts),
                attack_parts(facts),
                [Paragraph("The guarantees do not cover the following.")],
                open_parts(facts),
                [
                    ToWrite(
                        "the expert's determination that the risk is very small, for how long it "
                        "is valid, and the methods and results that justify it."
                    )
                ],
            ),
        ),
        EvidenceSection(
            "Re-identification codes, 164.514(c)", "Codes", joined_parts(_codes(facts))
        ),
    )


def _codes(facts: ReleaseFacts) -> Iterator[PackPart]:
    if facts.manifest.keeps_rows and facts.manifest.keeping.numbered:
        yield Paragraph(
            "Rows carry a number of their person. It is random and new in every release, and not "
            "derived from information about the person."
        )
    else:
        yield Paragraph("The release has no column that discreet made to recognize persons.")
    yield ToWrite("whether a code allows re-identification, and who holds the key.")
