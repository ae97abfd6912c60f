"""The command `tigris`. Exit codes: 0 done, 1 model or plan refused, 2 usage, 3 does not fit, 4 missing, 5 differs."""

from __future__ import annotations

import io
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from typing import NoReturn

import click

from tigris_codegen.cli.boards import boards
from tigris_codegen.cli.common import BUG, STOPPED, Answered, error_json, fail, print_json
from tigris_codegen.cli.completion import completion
from tigris_codegen.cli.doctor import doctor
from tigris_codegen.cli.firmware import codegen, verify
from tigris_codegen.cli.host import analyze, compile_command, inspect, run
from tigris_codegen.cli.regenerate import regenerate
from tigris_codegen.errors import TigrisError, UsageError

NAME = "tigris"


def _version() -> str:
    try:
        return metadata.version("tigris-codegen")
    except metadata.PackageNotFoundError:
        return "of a checkout that is not installed"


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(version=_version(), prog_name=NAME, message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Compiles a .tflite model for a microcontroller board into a firmware project.

    \b
    Example:
      tigris analyze kws.tflite --board mps2-an500
      tigris codegen kws.tflite --board mps2-an500 -o firmware/
      tigris verify firmware/

    \b
    Exit codes: 0 done, 1 model or plan refused, 2 usage, 3 does not fit,
                4 a tool or board is missing, 5 verify found a difference
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (analyze, compile_command, inspect, run, codegen, regenerate, verify, boards, doctor, completion):
    cli.add_command(command)


def run_command(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit code; errors become one form on stderr."""
    as_json = "--json" in arguments
    try:
        cli.main(list(arguments), prog_name=NAME, standalone_mode=False)
    except Answered as answered:
        if as_json and answered.answer is not None:
            print_json(answered.answer)
        return fail(answered.error)
    except TigrisError as error:
        return _refuse(error, as_json)
    except click.ClickException as error:
        return _refuse(_usage(error), as_json)
    except (click.Abort, KeyboardInterrupt):
        click.echo(f"{NAME}: stopped", err=True)
        return STOPPED
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _refuse(UsageError(f"{where}{(error.strerror or str(error)).lower()}"), as_json)
    except Exception:
        traceback.print_exc()
        click.echo(f"{NAME}: this is a bug in Tigris, not in your model", err=True)
        click.echo("  -> report it with the lines above, the command and, if you may, the model", err=True)
        return BUG
    return 0


def _refuse(error: TigrisError, as_json: bool) -> int:
    if as_json:
        print_json(error_json(error))
    return fail(error)


def _usage(error: click.ClickException) -> UsageError:
    """What click says about the command line, in our form."""
    message = error.format_message().rstrip(".")
    path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else NAME
    return UsageError(message[:1].lower() + message[1:], f"{path} --help")


def main() -> NoReturn:
    """Entry point. A reader that goes away (`tigris boards | head -1`) ends the command without a word."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run_command(sys.argv[1:]))
