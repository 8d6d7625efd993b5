"""What every command shares: where output goes, progress, and how errors end.

Results go to stdout, all else to stderr. With ``--json`` stdout carries one JSON object, also for
an error. Tracebacks appear with ``--debug`` alone.
"""

from __future__ import annotations

import codecs
import inspect
import io
import json
import os
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO, get_args

import typer
from typer.models import OptionInfo

from discreet.result import Result

if TYPE_CHECKING:
    from discreet.methods.base import Progress
    from discreet.releases.manifest import Manifest
    from discreet.report.pieces import Page

USAGE_ERROR: Any = typer.BadParameter.__base__  # of click, or of Typer's own copy of it
ENDS = (typer.Exit, typer.Abort, USAGE_ERROR)  # of a command, which are no error of it
PATIENCE = 2.0  # seconds before a progress bar appears
COMPILING_PATIENCE = 1.0  # seconds of compiling before a line says so
COMPILING_INTERVAL = 5.0  # seconds between such lines

SHARED: dict[str, Any] = {  # options of most commands
    "verbose": Annotated[bool, typer.Option("--verbose", "-v", help="Print all details.")],
    "json": Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout.")],
    "quiet": Annotated[bool, typer.Option("--quiet", help="Print only results and errors.")],
    "debug": Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")],
}
Debug = SHARED["debug"]
# The words for values in the help, by the type of an option.
METAVARS = {Path: "FILE", str: "TEXT", int: "NUMBER", float: "NUMBER"}
TONES = {"good": 32, "warn": 33, "bad": 31}  # of ANSI terminals
ReleasePlace = Annotated[Path, typer.Argument(help="Release folder.")]
Replace = Annotated[bool, typer.Option("--force", help="Replace what already exists.")]
Table = Annotated[str | None, typer.Option("--table", help="Table of the database.")]
Query = Annotated[str | None, typer.Option("--query", help="Query of the database.")]
SourceOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        help="How to read a file: encoding=latin-1, sheet=People, header=false. Repeatable.",
    ),
]
AcceptRisk = Annotated[
    str | None,
    typer.Option(
        "--accept-risk",
        metavar="REASON",
        help="Publish although the verdict is 'Do not publish'; the reason is recorded.",
    ),
]
AttackSeconds = Annotated[
    float,
    typer.Option(
        "--attack", min=0, help="Time limit of the attacks that the verdict rests on, in seconds."
    ),
]
NoAttack = Annotated[
    bool, typer.Option("--no-attack", help="Try no attacker; the verdict says so.")
]
PageLanguage = Annotated[
    str, typer.Option("--language", help="Language of the page: en, de or tr.")
]
PageFile = Annotated[
    Path | None, typer.Option("--page", help="Also write the result as an HTML page to this file.")
]


@dataclass(frozen=True)
class CommandOutput:
    """Where a command writes: its result, a page, progress; by the options that all share."""

    verbose: bool = False
    json: bool = False
    quiet: bool = False
    debug: bool = False

    def result(self, data: Any, lines: Iterable[str] | str, tone: str = "") -> None:
        """Print a result: one JSON object, or lines of which the first has the verdict's colour."""
        if self.json:
            say_json(data)
        else:
            say_lines(lines.splitlines() if isinstance(lines, str) else lines, tone)

    def note(self, text: str) -> None:
        """Print to stderr what is not part of the result, unless quiet."""
        if not self.quiet:
            note(text)

    def page(self, path: Path | None, shown: Page | Result, language: str = "en") -> None:
        """Write a page, or that of a result, to the file of ``--page``, and say so."""
        if path is None:
            return
        if isinstance(shown, Result):
            shown.save_page(path, language)
        else:
            path.write_text(shown.html(), encoding="utf-8")
        self.note(f"Wrote {path}")

    def progress(self) -> AbstractContextManager[Progress]:
        """Return a progress bar, or none."""
        return progress_bar(quiet=self.quiet)


class SharedCommand:
    """A command with the options that all share; its errors become messages and exit statuses."""

    def __init__(self, function: Callable[..., None], example: str, names: Sequence[str]) -> None:
        self.function, self.names = function, (*names, "debug")
        self.__name__, self.__annotations__ = function.__name__, {}
        self.__doc__ = f"{inspect.getdoc(function)}\n\n\b\nExample:\n  {example}"

    @cached_property
    def __signature__(self) -> inspect.Signature:
        """The parameters with shared options in the place of ``out``, and readable values."""
        signature = inspect.signature(self.function, eval_str=True)
        parameters = [part for name, part in signature.parameters.items() if name != "out"]
        for parameter in parameters:
            kind, info = get_args(parameter.annotation)
            known = [METAVARS[part] for part in (kind, *_leaves(kind)) if part in METAVARS]
            if isinstance(info, OptionInfo) and info.metavar is None and known:
                info.metavar = known[0]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False,
                              annotation=SHARED[name])
            for name in self.names
        ]  # fmt: skip
        return signature.replace(parameters=[*parameters, *options])

    def __call__(self, **given: Any) -> None:
        out = CommandOutput(**{name: given.pop(name) for name in self.names})
        with guarded(as_json=out.json, debug=out.debug):
            self.function(out, **given)


def _leaves(kind: Any) -> Iterator[Any]:
    """Yield the types within ``list[str] | None``."""
    for part in get_args(kind):
        yield part
        yield from _leaves(part)


def shared(*names: str, example: str) -> Callable[[Callable[..., None]], SharedCommand]:
    """Make a function with a parameter ``out`` a command that has some of the shared options."""
    return lambda function: SharedCommand(function, example, names)


def result_data(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest in the words of results.

    A manifest is written in those of its format: ``promises`` and ``readers``.
    """
    data = manifest.model_dump(mode="json", exclude_none=True)
    attackers = [finding.to_dict() for finding in manifest.readers]
    return {"guarantees" if key == "promises" else key: part for key, part in data.items()
            if key != "readers"} | {"attackers": attackers}  # fmt: skip


def source_options(given: list[str] | None) -> dict[str, object]:
    """Return the options of ``--source``; the tokens of ``missing`` are separated by commas."""
    options: dict[str, object] = {}
    for one in given or ():
        name, _, value = one.partition("=")
        options[name] = None if value == "null" else value
        if name == "missing":
            options[name] = tuple(value.split(","))
    return options


def say(text: str = "") -> None:
    """Print a result to stdout."""
    sys.stdout.write(text + "\n")


def say_lines(lines: Iterable[str], tone: str = "") -> None:
    """Print the lines of a result; on a terminal, broken at its width, with a coloured verdict."""
    if sys.stdout.isatty():
        from discreet.report.terminal import wrapped

        lines = wrapped(lines, shutil.get_terminal_size().columns)
        if lines and tone in TONES and not os.environ.get("NO_COLOR"):
            lines[0] = f"\033[1;{TONES[tone]}m{lines[0]}\033[0m"
    for line in lines:
        say(line)


class Pipe(io.FileIO):
    """A descriptor whose reader may go away, as in ``discreet audit release | head``.

    What is written after that is dropped, so that the exit status still says how the command ended.
    """

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(data)


def open_streams() -> None:
    """Prepare stdout and stderr for characters that they lack and for readers that go away."""
    if sys.stderr is None:  # no file may take its number: libraries write there
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    if sys.stdout is None:
        note("Error: standard output is closed. Redirect it to a file or to /dev/null.")
        raise SystemExit(2)
    sys.stdout = _replaced(sys.stdout)
    sys.stderr = _replaced(sys.stderr)


def _replaced(stream: TextIO) -> TextIO:
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(Pipe(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.isatty() or stream is sys.stderr,
    )


def flushed(status: int) -> int:
    """Flush stdout; return the exit status, which is 2 if that fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        note(f"Error: standard output: {error.strerror}. The result was not printed.")
        return 2
    return status


def note(text: str) -> None:
    """Print to stderr what is not part of the result."""
    sys.stderr.write(text + "\n")


class CompilingNotes:
    """Lines on stderr that say why nothing happens while kernels are compiled."""

    def __init__(self) -> None:
        self.due = COMPILING_PATIENCE

    def __call__(self, kernels: int, seconds: float) -> None:
        if kernels and seconds >= self.due:
            note(f"Compiling kernels for this machine (once): {kernels} so far.")
            self.due = seconds + COMPILING_INTERVAL


def say_json(data: Any) -> None:
    """Print one JSON object to stdout; a statement has its id, parameters and text."""
    from discreet.statements import as_data

    plain = codecs.lookup(sys.stdout.encoding or "ascii").name != "utf-8"
    say(json.dumps(as_data(data), ensure_ascii=plain, indent=1, default=str))


@contextmanager
def guarded(*, as_json: bool = False, debug: bool = False) -> Iterator[None]:
    """Turn an error of a command into a message and an exit status."""
    from discreet.errors import CODES, DiscreetError, code_of

    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except ENDS:
        raise
    except (Exception, KeyboardInterrupt) as error:
        code = code_of(error)
        status = error.exit_status if isinstance(error, DiscreetError) else CODES[code]
        details = {"error": _message(error), "code": code, "exit_status": status}
        details |= _facts(error)
        if "risk" in details and not as_json:  # the verdict is the result; what follows from it
            say_lines(str(error).splitlines())
        _end(details, as_json, debug)


def _message(error: BaseException) -> str:
    """Return what an error says, for a person."""
    from discreet.errors import DiscreetError, RiskError

    if isinstance(error, RiskError):
        return f"Nothing was published: the verdict is '{error.verdict.word}'."
    if isinstance(error, DiscreetError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "Interrupted; nothing was published."
    if isinstance(error, MemoryError):
        return "Out of memory. Use a machine with more memory, or --engine spark."
    if isinstance(error, OSError):
        return f"{error.filename or 'input or output'}: {error.strerror or error}"
    return _defect(error)


def _facts(error: BaseException) -> dict[str, Any]:
    """Return what some errors tell a machine beside their message."""
    from discreet.errors import InfeasibleError, JobError, RiskError

    if isinstance(error, JobError):
        return {"problems": list(error.problems)}
    if isinstance(error, InfeasibleError):
        return {"failures": list(error.failures)}
    if isinstance(error, RiskError):
        return {"risk": error.verdict.to_dict(), "private_report": str(error.report)}
    return {}


def _defect(error: BaseException) -> str:
    """Return the message of an unexpected error, without its own text, which may contain cells."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"Internal error: {type(error).__name__} in {Path(frame.filename).name}, line"
        f" {frame.lineno}. Please report it with the output of --debug. Review that output first:"
        " it may contain cells of the table."
    )


def _terminate(signum: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _end(details: dict[str, Any], as_json: bool, debug: bool) -> NoReturn:
    if debug:
        note(traceback.format_exc())
    if as_json:
        say_json(details)
    note(f"Error: {details['error']}")
    raise typer.Exit(details["exit_status"]) from None


def _note_cost(phase: str, share: float) -> None:
    """Print what a run is expected to cost; nothing of its other phases."""
    if getattr(phase, "id", "") == "cost.expected":
        note(phase)


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Progress]:
    """A progress bar on stderr for anything over two seconds, when it is a terminal.

    What a long run is expected to cost is a line of its own, also where no terminal is.
    """
    from discreet.methods.base import no_progress

    if quiet or not sys.stderr.isatty():
        yield no_progress if quiet else _note_cost
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("reading", total=None)
    timer = threading.Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()

    def tell(phase: str, share: float) -> None:
        _note_cost(phase, share)
        bar.update(task, description=phase, completed=share, total=1.0 if share else None)

    try:
        yield tell
    finally:
        timer.cancel()
        bar.stop()
