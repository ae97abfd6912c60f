"""Names and arguments of Renode's keywords, which do nothing here."""

from __future__ import annotations


class renode_keywords:
    """What `renode/*.robot` and Renode's own set-up and tear-down take."""

    def execute_script(self, path: str) -> None:
        """Runs a script of the monitor."""

    def execute_command(self, command: str, machine: str | None = None) -> str:
        """Runs a command of the monitor."""
        return ""

    def create_terminal_tester(self, uart: str, timeout: float | None = None, machine: str | None = None) -> int:
        """Listens to a UART."""
        return 0

    def start_emulation(self) -> None:
        """Starts all machines."""

    def wait_for_line_on_uart(
        self, content: str, timeout: float | None = None, testerId: int | None = None, treatAsRegex: bool = False
    ) -> str:
        """Waits for a line."""
        return content
