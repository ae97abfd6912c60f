"""Code generation: plan bytes + Board -> firmware project."""

from tigris_codegen.codegen.context import core_name_for
from tigris_codegen.codegen.lock import Lock, read_lock
from tigris_codegen.codegen.placement import Placement, place
from tigris_codegen.codegen.project import Project, generate_project
from tigris_codegen.codegen.vectors import TestVector

__all__ = ["Lock", "Placement", "Project", "TestVector", "core_name_for", "generate_project", "place", "read_lock"]
