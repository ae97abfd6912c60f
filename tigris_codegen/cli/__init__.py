"""The command `tigris`. Exit codes: 0 done, 1 model or plan refused, 2 usage, 3 does not fit, 4 missing, 5 differs."""

from __future__ import annotations

import sys

import click

from tigris_codegen.cli.common import fail
from tigris_codegen.cli.firmware import boards, codegen, verify
from tigris_codegen.cli.host import analyze, compile_command, inspect, run
from tigris_codegen.errors import TigrisError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tigris-codegen", message="tigris %(version)s")
def cli() -> None:
    """Compiles a .tflite model for a microcontroller board into a firmware project.

    \b
    Exit codes: 0 done, 1 model refused, 2 usage, 3 does not fit,
                4 a tool or board is missing, 5 verify found a difference

    \b
    Example:
      tigris codegen kws.tflite --board mps2-an500 -o firmware/
      tigris verify firmware/
    """


for command in (analyze, compile_command, inspect, run, codegen, verify, boards):
    cli.add_command(command)


def main() -> None:
    """Entry point: errors a person can act on become one form on stderr and an exit code."""
    try:
        cli(standalone_mode=False)
    except TigrisError as error:
        sys.exit(fail(error))
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
