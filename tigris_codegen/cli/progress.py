"""Progress on stderr for what takes longer than a moment: a bar or a spinner on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

#: What slow code calls: what it does, how much is done, of how much (0 = unknown).
Report = Callable[[str, int, int], None]

#: Seconds until something is shown: what is faster needs no progress.
DELAY = 0.5


def stage(text: str, quiet: bool) -> None:
    """One line on stderr at the start of something slow, where no bar can be shown."""
    if not quiet and not sys.stderr.isatty():
        click.echo(f"{text} ...", err=True)


@contextmanager
def progress(text: str) -> Iterator[Report]:
    """While this lasts, what the yielded function is told is shown; on anything but a terminal it does nothing."""
    if not sys.stderr.isatty():
        yield lambda _text, _done, _total: None
        return
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(text, total=None)
    timer = threading.Timer(DELAY, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda said, done, total: bar.update(task, description=said, completed=done, total=total or None)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
