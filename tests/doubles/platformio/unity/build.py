"""Where `pio test` writes how Unity prints."""

from SCons.Script import Import

Import("env")
env.Prepend(CPPPATH=["$BUILD_DIR/unity_config"])  # noqa: F821
