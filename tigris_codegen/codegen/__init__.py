"""Code generation: plan bytes + Board -> firmware project, or plan bytes -> core for firmware that exists."""

from tigris_codegen.codegen.context import core_name_for
from tigris_codegen.codegen.core import Core, RuntimeMode, generate_core
from tigris_codegen.codegen.lock import CoreLock, Lock, Option, RuntimeLock, read_lock
from tigris_codegen.codegen.placement import Placement, place
from tigris_codegen.codegen.project import Project, generate_project
from tigris_codegen.codegen.vectors import TestVector

__all__ = [
    "Core",
    "CoreLock",
    "Lock",
    "Option",
    "Placement",
    "Project",
    "RuntimeLock",
    "RuntimeMode",
    "TestVector",
    "core_name_for",
    "generate_core",
    "generate_project",
    "place",
    "read_lock",
]
