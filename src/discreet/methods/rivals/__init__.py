"""The systems that MSA-diversity is compared with."""
