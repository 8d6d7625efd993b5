"""European Medicines Agency, policy 0070: the anonymisation report.

In the order in which the agency's external guidance on the policy (EMA/90915/2016, chapter 3) takes
the steps: variables, adversaries, utility, threshold, actual risk, methodology, documentation.
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

TITLE = "Anonymisation report, EMA policy 0070"
ABOUT = (
    "Arranged by the steps of the agency's external guidance on policy 0070 (EMA/90915/2016). It "
    "covers the tables of this release; the text of clinical reports was not examined. Copy it "
    "into the agency's current template.",
)


def sections(facts: ReleaseFacts) -> tuple[EvidenceSection, ...]:
    """The sections of an anonymisation report."""
    return (
        EvidenceSection(
            "1. The data",
            "Data",
            joined_parts(
                release_parts(facts),
                [ToWrite("product, procedure number, studies, and the population of each study.")],
            ),
        ),
        EvidenceSection(
            "2. Anonymisation methodology",
            "Methodology",
            joined_parts(
                technique_parts(facts),
                guarantee_parts(facts),
                [ToWrite("the rationale for the method and its parameters.")],
            ),
        ),
        EvidenceSection(
            "3. Direct identifiers and quasi-identifiers",
            "Variables",
            joined_parts(variable_parts(facts)),
        ),
        EvidenceSection(
            "4. Adversaries and plausible attacks",
            "Adversaries",
            joined_parts(
                [
                    ToWrite(
                        "who may try to identify participants, with which motives, means and data."
                    )
                ],
                attack_parts(facts),
            ),
        ),
        EvidenceSection(
            "5. Data utility",
            "Utility",
            joined_parts(
                utility_parts(facts),
                [ToWrite("which analyses the data still allow.")],
            ),
        ),
        EvidenceSection(
            "6. Risk of re-identification and threshold",
            "Risk",
            joined_parts(
                [
                    Paragraph(
                        "The guidance holds a threshold of 0.09 for appropriate in a public "
                        "release, and asks for the greatest risk."
                    )
                ],
                risk_parts(facts),
                threshold_parts(facts),
                [ToWrite("the threshold that you apply, and why.")],
            ),
        ),
        EvidenceSection(
            "7. Residual risk and conclusion",
            "Conclusion",
            joined_parts(
                [Paragraph("The guarantees do not cover the following.")],
                open_parts(facts),
                [
                    ToWrite(
                        "whether the three criteria (singling out, linkability, inference) are met "
                        "or the risk is below the threshold, and why the residual risk is "
                        "acceptable."
                    )
                ],
            ),
        ),
    )
