"""PlatformIO builds a project's self-test; nothing here runs the image, which is for the board and its framework."""

from __future__ import annotations

from pathlib import Path

from tigris_codegen.emulate import tools

#: The first build downloads compilers and frameworks.
_SECONDS = 3600.0


def build_platformio(project: Path, environment: str) -> None:
    """MissingError where PlatformIO is missing, TigrisError with its words where the build fails."""
    pio = tools.find("pio")
    command: list[str | Path] = [pio, "test", "-e", environment, "--without-uploading", "--without-testing"]
    tools.run(command, project.resolve(), _SECONDS)
