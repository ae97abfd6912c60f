"""What each framework's projects need beside their template: one module per framework."""

from __future__ import annotations

from collections.abc import Mapping

from tigris_codegen.boards import FrameworkName
from tigris_codegen.codegen.frameworks import baremetal, esp_idf, platformio, posix, zephyr
from tigris_codegen.codegen.frameworks.framework import ProjectFramework

FRAMEWORKS: Mapping[FrameworkName, ProjectFramework] = {
    "baremetal": baremetal.FRAMEWORK,
    "esp-idf": esp_idf.FRAMEWORK,
    "platformio": platformio.FRAMEWORK,
    "posix": posix.FRAMEWORK,
    "zephyr": zephyr.FRAMEWORK,
}
