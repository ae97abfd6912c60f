"""Code generation: plans + Board -> firmware project, or plans -> cores for firmware that exists."""

from tigris_codegen.codegen.core import Core, generate_core, generate_cores
from tigris_codegen.codegen.lock import (
    LOCK_NAME,
    CoreLock,
    Lock,
    LockedModel,
    Option,
    RuntimeLock,
    read_any_lock,
    read_lock,
    sha256,
)
from tigris_codegen.codegen.models import ARENA_ALIGN, CoreModel, Need, check_core_names, need_of, need_together
from tigris_codegen.codegen.names import core_name_for
from tigris_codegen.codegen.placement import Placement, place, place_need
from tigris_codegen.codegen.project import BOARD_FILES, Project, generate_project, generate_project_of
from tigris_codegen.codegen.sources import RuntimeMode
from tigris_codegen.codegen.vectors import TestVector

__all__ = [
    "ARENA_ALIGN",
    "BOARD_FILES",
    "LOCK_NAME",
    "Core",
    "CoreLock",
    "CoreModel",
    "Lock",
    "LockedModel",
    "Need",
    "Option",
    "Placement",
    "Project",
    "RuntimeLock",
    "RuntimeMode",
    "TestVector",
    "check_core_names",
    "core_name_for",
    "generate_core",
    "generate_cores",
    "generate_project",
    "generate_project_of",
    "need_of",
    "need_together",
    "place",
    "place_need",
    "read_any_lock",
    "read_lock",
    "sha256",
]
