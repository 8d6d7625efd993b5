"""Evidence packs: what was computed of a release, in the structure that a reviewer asks for."""
