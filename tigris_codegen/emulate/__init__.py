"""Emulation: build a generated project, run it as its board, compare."""

from tigris_codegen.emulate.build import build, find_cmsis, find_picolibc
from tigris_codegen.emulate.emulator import Emulator
from tigris_codegen.emulate.native import NativeEmulator
from tigris_codegen.emulate.qemu import QemuEmulator, run_qemu
from tigris_codegen.emulate.renode import RenodeEmulator
from tigris_codegen.emulate.report import Report, RunReport, Stray, Watch, parse_report
from tigris_codegen.emulate.unicorn import UnicornEmulator
from tigris_codegen.emulate.verify import (
    EMULATORS,
    Expectation,
    VerifyResult,
    choose_emulator,
    emulators_of,
    read_expectation,
    verify_project,
)

__all__ = [
    "EMULATORS",
    "Emulator",
    "Expectation",
    "NativeEmulator",
    "QemuEmulator",
    "RenodeEmulator",
    "Report",
    "RunReport",
    "Stray",
    "UnicornEmulator",
    "VerifyResult",
    "Watch",
    "build",
    "choose_emulator",
    "emulators_of",
    "find_cmsis",
    "find_picolibc",
    "parse_report",
    "read_expectation",
    "run_qemu",
    "verify_project",
]
