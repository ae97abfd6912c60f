#!/bin/sh
# Sees that the Debian packages that demo and tests need are there: installs what is missing where that is allowed
# (root, or sudo without a password), else names it and exits with 4.
set -eu

missing=""
need() { # need COMMAND PACKAGE...
    command -v "$1" >/dev/null 2>&1 || { shift; missing="$missing $*"; }
}

python=$(sh "$(dirname "$0")/python.sh" 2>/dev/null) || { python=python3; missing="$missing python3"; }
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
need cc gcc libc6-dev
need c++ g++
need clang clang
need cmake cmake
need ninja ninja-build
need npm npm
need arm-none-eabi-gcc gcc-arm-none-eabi
need qemu-system-arm qemu-system-arm
need riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf
need qemu-system-riscv32 qemu-system-misc
if command -v arm-none-eabi-gcc >/dev/null 2>&1; then
    case $(arm-none-eabi-gcc -print-file-name=libc_nano.a) in
    /*) ;;
    *) missing="$missing libnewlib-arm-none-eabi" ;;
    esac
else
    missing="$missing libnewlib-arm-none-eabi"
fi
if command -v riscv64-unknown-elf-gcc >/dev/null 2>&1; then
    case $(riscv64-unknown-elf-gcc -print-file-name=picolibc.specs) in
    /*) ;;
    *) missing="$missing picolibc-riscv64-unknown-elf" ;;
    esac
else
    missing="$missing picolibc-riscv64-unknown-elf"
fi

install_missing() {
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" = 0 ]; then
        as_root=""
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root="sudo"
    else
        echo "These Debian packages are missing:$missing" >&2
        echo "  -> sudo apt-get install --no-install-recommends$missing" >&2
        exit 4
    fi
    echo "== installing Debian packages:$missing"
    $as_root apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
    missing=""
}

install_missing
# The sanitizers of Clang are a package of their own, named after the version that is now there.
case $(clang -print-file-name="libclang_rt.asan-$(uname -m).a") in
/*) ;;
*) missing="libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" ;;
esac
install_missing
