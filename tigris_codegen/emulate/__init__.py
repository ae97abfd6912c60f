"""Emulation: build a generated project, run it as its board, compare."""

from tigris_codegen.emulate.build import build, find_cmsis
from tigris_codegen.emulate.emulator import Emulator
from tigris_codegen.emulate.qemu import QemuEmulator, run_qemu
from tigris_codegen.emulate.report import Report, RunReport, parse_report
from tigris_codegen.emulate.verify import Expectation, VerifyResult, read_expectation, verify_project

__all__ = [
    "Emulator",
    "Expectation",
    "QemuEmulator",
    "Report",
    "RunReport",
    "VerifyResult",
    "build",
    "find_cmsis",
    "parse_report",
    "read_expectation",
    "run_qemu",
    "verify_project",
]
