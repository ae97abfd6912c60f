"""ESP-IDF: its few functions are those of the double beside this one; the program is one of this machine."""

from pathlib import Path

from SCons.Script import DefaultEnvironment

env = DefaultEnvironment()
double = Path(env.PioPlatform().get_dir()) / "esp-idf"
env.Append(
    CCFLAGS=["-O2", "-ffunction-sections", "-fdata-sections"],
    CFLAGS=["-std=gnu17"],
    CXXFLAGS=["-std=gnu++20", "-fno-rtti", "-fno-exceptions"],
    CPPDEFINES=[("CONFIG_ESP_TASK_WDT_EN", 1), ("CONFIG_SPIRAM_ALLOW_BSS_SEG_EXTERNAL_MEMORY", 1)],
    CPPPATH=[str(double / "include")],
    LINKFLAGS=["-Wl,--gc-sections", "-Wl,-z,now"],
    LIBS=["m"],
)
env.BuildSources("$BUILD_DIR/FrameworkEspidf", str(double))
