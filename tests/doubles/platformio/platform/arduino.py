"""Arduino: flags as its cores have them, the start-up code and linker script of the double."""

from pathlib import Path

from SCons.Script import DefaultEnvironment

env = DefaultEnvironment()
board = env.BoardConfig()
double = Path(env.PioPlatform().get_dir()) / "arduino"
machine = ["-mthumb", *board.get("build.flags").split()]
symbols = [f"-Wl,--defsym=DOUBLE_{name}={value}" for name, value in board.get("build.memory").items()]
env.Append(
    CCFLAGS=[*machine, "-Os", "-ffunction-sections", "-fdata-sections"],
    CFLAGS=["-std=gnu17"],
    CXXFLAGS=["-std=gnu++17", "-fno-rtti", "-fno-exceptions", "-fno-threadsafe-statics"],
    CPPDEFINES=[("ARDUINO", 10808), ("DOUBLE_CONSOLE", board.get("build.console"))],
    CPPPATH=[str(double)],
    LINKFLAGS=[
        *machine,
        *symbols,
        "-Wl,--gc-sections",
        "-Wl,--fatal-warnings",
        "-Wl,--no-warn-rwx-segments",
        "-nostartfiles",
        "--specs=nano.specs",
        "--specs=nosys.specs",
        f"-Wl,-T,{double / 'linker.ld'}",
    ],
    LIBS=["m"],
)
env.BuildSources("$BUILD_DIR/FrameworkArduino", str(double))
