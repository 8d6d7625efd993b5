"""The statement that reads a source: all of a table, or a query without what may follow it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from discreet.errors import InputError
from discreet.io.databases import column_name, quoted

# Text in quotes or between dollars, comments, the end of a statement, anything else.
_TOKENS = re.compile(
    r"""(?P<text> [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*"
               | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ )
      | (?P<blank> --[^\n]* | /\*.*?\*/ | \s+ )
      | (?P<end> ; )
      | .""",
    re.DOTALL | re.VERBOSE,
)


def select_of(table: str | None, query: str | None) -> str:
    """Return the statement that reads a table, or the query itself."""
    return f"SELECT * FROM {quoted(table)}" if table else _without_end(query or "")


def with_names(statement: str, names: Sequence[str]) -> str:
    """Return a statement whose columns have other names, each by its place."""
    listed = ", ".join(map(column_name, names))
    source = "discreet_named"
    return f"WITH {source}({listed}) AS (\n{statement}\n)\nSELECT * FROM {source}"


def _without_end(query: str) -> str:
    """Return a query up to the semicolon that ends it; comments may follow that.

    A query of several statements is returned as it is, for its database to refuse. Where a database
    delimits text in yet another way, a cut within it leaves text that nothing closes, which no
    database runs.
    """
    end, ended = 0, False
    for token in _TOKENS.finditer(query):
        if token["end"]:
            ended = True
        elif not token["blank"]:
            if ended:
                return query
            end = token.end()
    if end == 0:
        raise InputError("The query of the source is empty. Write one SELECT.")
    return query[:end]
