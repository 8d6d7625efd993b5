"""Write the snapshot of each language again."""

from tests.statements.snapshots import place, snapshot

from discreet.statements import LANGUAGES

for language in LANGUAGES:
    place(language).write_text(snapshot(language), encoding="utf-8")
