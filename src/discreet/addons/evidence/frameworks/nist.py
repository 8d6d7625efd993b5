"""NIST SP 800-188 (De-identifying government datasets, 2023) and NISTIR 8053 (2015).

SP 800-188 asks for goals, governance, a data survey, techniques, their evaluation and monitoring;
NISTIR 8053 defines prosecutor, journalist and marketer risk.
"""

from __future__ import annotations

from discreet.addons.evidence.document import EvidenceSection, Paragraph, ToWrite
from discreet.addons.evidence.facts import ReleaseFacts
from discreet.addons.evidence.parts import (
    attack_parts,
    guarantee_parts,
    joined_parts,
    open_parts,
    release_parts,
    risk_parts,
    technique_parts,
    threshold_parts,
    utility_parts,
    variable_parts,
)

TITLE = "De-identification of a dataset, NIST SP 800-188"
ABOUT = (
    "Arranged by the steps of NIST SP 800-188, with the risks that NISTIR 8053 defines. Neither "
    "document sets a threshold.",
)


def sections(facts: ReleaseFacts) -> tuple[EvidenceSection, ...]:
    """The sections for a Disclosure Review Board."""
    return (
        EvidenceSection(
            "1. Goals and governance",
            "Governance",
            (
                ToWrite("the goals of sharing, the intended users and the harm of a disclosure."),
                ToWrite(
                    "the data-sharing model: release and forget, data use agreement, enclave, or "
                    "query interface."
                ),
                ToWrite("members and decision of the Disclosure Review Board."),
            ),
        ),
        EvidenceSection(
            "2. Data survey",
            "Survey",
            joined_parts(release_parts(facts), variable_parts(facts)),
        ),
        EvidenceSection(
            "3. De-identification",
            "Techniques",
            joined_parts(
                technique_parts(facts),
                guarantee_parts(facts),
                [
                    Paragraph(
                        "The guarantees are about groups and values. The release claims no formal "
                        "privacy in the sense of differential privacy."
                    )
                ],
            ),
        ),
        EvidenceSection(
            "4. Evaluation: re-identification risk (NISTIR 8053)",
            "Risk",
            joined_parts(risk_parts(facts), threshold_parts(facts)),
        ),
        EvidenceSection(
            "5. Evaluation: re-identification study",
            "Attacks",
            joined_parts(
                attack_parts(facts),
                [
                    Paragraph("The guarantees do not cover the following."),
                    *open_parts(facts),
                    ToWrite("a test by a motivated intruder with outside data, if one was made."),
                ],
            ),
        ),
        EvidenceSection("6. Evaluation: usability", "Utility", joined_parts(utility_parts(facts))),
        EvidenceSection(
            "7. After the release",
            "Monitoring",
            (
                ToWrite("who watches for new outside data and attacks, and how often."),
                ToWrite("what happens on a re-identification, and how the data are withdrawn."),
            ),
        ),
    )
