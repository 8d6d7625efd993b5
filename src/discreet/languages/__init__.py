"""Templates of statements, one file a language: ``en.json``, ``de.json`` and ``tr.json``."""
