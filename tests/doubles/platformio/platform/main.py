"""The builder of the stand-in platform: which compiler, which program. The framework's script adds the rest."""

from SCons.Script import COMMAND_LINE_TARGETS, Default, DefaultEnvironment

env = DefaultEnvironment()
prefix = env.BoardConfig().get("build.prefix")
env.Replace(
    AR=f"{prefix}ar",
    AS=f"{prefix}as",
    CC=f"{prefix}gcc",
    CXX=f"{prefix}g++",
    # Nothing here needs a C++ library.
    LINK="$CC",
    RANLIB=f"{prefix}ranlib",
    SIZETOOL=f"{prefix}size",
    ARFLAGS=["rc"],
    PROGNAME="firmware",
    PROGSUFFIX=".elf",
    SIZEPROGREGEXP=r"^(?:\.text|\.data|\.rodata)\s+(\d+).*",
    SIZEDATAREGEXP=r"^(?:\.data|\.bss)\s+(\d+).*",
    SIZECHECKCMD="$SIZETOOL -A -d $SOURCES",
    SIZEPRINTCMD="$SIZETOOL -B -d $SOURCES",
)
program = env.BuildProgram()
env.Alias("buildprog", program)
if "nobuild" not in COMMAND_LINE_TARGETS:
    Default(program)
