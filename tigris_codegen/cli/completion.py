"""The command `tigris completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tigris_codegen.errors import UsageError

SHELLS = ("bash", "zsh", "fish")
#: What the scripts set when they ask for words; `run_command` tells click.
VARIABLE = "_TIGRIS_COMPLETE"


@click.command(short_help="Prints a shell's completion script.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Prints the script that completes commands, options, boards and files in SHELL.

    \b
    Example:
      eval "$(tigris completion bash)"                                 # in ~/.bashrc
      eval "$(tigris completion zsh)"                                  # in ~/.zshrc
      tigris completion fish > ~/.config/fish/completions/tigris.fish
    """
    form = get_completion_class(shell)
    if form is None:
        raise UsageError(f"no completion for {shell}", ", ".join(SHELLS))
    root = context.find_root()
    program = form(root.command, {}, root.info_name or "tigris", VARIABLE)
    # Not `source()`: it asks the installed bash for its version, and the script may be for another machine.
    click.echo(program.source_template % program.source_vars())
