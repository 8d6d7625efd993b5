"""The application: its commands, and the function that the console script calls."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from typer.core import TyperGroup

from discreet.cli import (
    attacking,
    beginning,
    checking,
    comparing,
    hierarchies,
    ledger,
    machine,
    publishing,
    repairing,
    table_checks,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@cache
def added_commands() -> dict[str, EntryPoint]:
    """The commands of add-ons and of other installed packages, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group="discreet.commands")}


# The commands in the order of their use; those of other packages follow under "More".
GROUPS = {
    "Check": ("check", "profile", "attack", "measure", "compare-tables"),
    "Publish": ("init", "publish", "repair", "compare", "apply", "studio"),
    "Verify": ("audit", "report", "ledger", "keys", "evidence"),
    "Describe": ("export", "codebook", "hierarchy", "schema"),
    "Try": ("demo", "warm-up"),
}


class Commands(TyperGroup):
    """The commands of the core, which are found without searching packages, and those added."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the help."""
        return [*super().list_commands(ctx), *sorted(added_commands())]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in groups, each with its whole description."""
        names = self.list_commands(ctx)
        grouped = {name for group in GROUPS.values() for name in group}
        groups = {**GROUPS, "More": tuple(name for name in names if name not in grouped)}
        for title, members in groups.items():
            lines = [
                (name, self.get_command(ctx, name).get_short_help_str(limit=200))
                for name in members
                if name in names
            ]
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; None for an unknown name."""
        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in added_commands():
            alone = typer.Typer(
                add_completion=False, rich_markup_mode=None, context_settings=HELP_OPTIONS
            )
            alone.command(cmd_name)(added_commands()[cmd_name].load())
            command = typer.main.get_command(alone)
        return command


HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    name="discreet",
    cls=Commands,
    help="Publish microdata without disclosing sensitive values.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=HELP_OPTIONS,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from discreet import __version__
        from discreet.cli.console import say

        say(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def _discreet(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Publish microdata without disclosing sensitive values."""


app.command("check")(table_checks.check)
app.command("init")(beginning.init)
app.command("profile")(beginning.profile)
app.command("publish")(publishing.publish)
app.command("apply")(publishing.apply)
app.command("audit")(checking.audit)
app.command("report")(checking.report)
app.command("measure")(checking.measure)
app.command("attack")(attacking.attack)
app.command("compare")(comparing.compare)
app.command("repair")(repairing.repair)
app.command("schema")(beginning.schema)
app.command("demo")(publishing.demo)
app.command("warm-up")(machine.warm_up)
app.add_typer(hierarchies.app, name="hierarchy")
app.add_typer(ledger.app, name="ledger")
app.add_typer(machine.keys, name="keys")


def _leave_out_others(command: str) -> None:
    """Keep one command alone: Typer takes 2 ms to prepare each."""
    commands = [one for one in app.registered_commands if one.name == command]
    groups = [one for one in app.registered_groups if one.name == command]
    if commands or groups:  # else all, for the help or the message
        app.registered_commands, app.registered_groups = commands, groups


def _say_misuse(error: Any) -> None:
    """Say what is wrong with a command line; with --json also as one JSON object."""
    from discreet.cli.console import say_json
    from discreet.errors import USAGE

    if "--json" in sys.argv:
        message = error.format_message()
        say_json({"error": message, "code": USAGE, "exit_status": error.exit_code})
    error.show()


def main() -> NoReturn:
    """Run the command line."""
    from discreet.cli.console import USAGE_ERROR, CompilingNotes, flushed, guarded, open_streams
    from discreet.errors import CODES, INTERRUPTED
    from discreet.table.kernels import NoCompilerWarning, listeners

    open_streams()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # none is ours; to look takes time
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # NumPy's idle threads sleep, not spin
    warnings.formatwarning = lambda message, *_: f"{message}\n"
    if "--quiet" in sys.argv:
        warnings.simplefilter("ignore", NoCompilerWarning)
    else:
        listeners.append(CompilingNotes())
    _leave_out_others(sys.argv[1] if len(sys.argv) > 1 else "")
    status = 0
    try:
        # What no command has caught; Python itself would end with 1.
        with guarded(as_json="--json" in sys.argv):
            status = app(standalone_mode=False) or 0
    except USAGE_ERROR as error:
        _say_misuse(error)
        status = error.exit_code
    except typer.Abort:
        status = CODES[INTERRUPTED]
    except typer.Exit as end:
        status = end.exit_code
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
    status = flushed(status)
    interrupting = sys.modules.get("discreet.table.interrupts")  # importing it takes time
    if interrupting is not None and interrupting.left_running():  # Python would wait for it
        saved = sys.modules.get("discreet.io.source")
        if saved is not None:
            saved.remove_saved_input()
        os._exit(status)
    if "duckdb" in sys.modules:  # at Python's end its bindings list their objects on stderr
        os._exit(status)
    if threading.active_count() == 1:  # modules end with the process; to dismantle them takes time
        atexit._run_exitfuncs()
        os._exit(flushed(status))
    sys.exit(status)
