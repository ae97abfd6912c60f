#!/usr/bin/env python3
"""The main job, end to end: digits.tflite -> plan -> firmware -> ten real digits in an emulated Cortex-M7.

Everything goes through the `tigris` command, as a user would do it. Exit code 0 only if every output byte of the
firmware equals the host run and TensorFlow Lite Micro.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

try:
    from tflite_micro.python.tflite_micro import runtime as tflm
except ImportError:
    tflm = None

HERE = Path(__file__).resolve().parent
#: What the demo makes stays here to be looked at.
WORK = HERE.parent.parent / "build" / "digits"
MODEL = HERE / "digits.tflite"
#: The command of the environment that runs this script.
TIGRIS = Path(sys.executable).with_name("tigris")
BOARD, POOL = "mps2-an500", "16K"
INKS = " .:-=+*#%@"


def tigris(*arguments: str | Path) -> str:
    """Runs the command, shows it, and stops the demo where it fails."""
    words = [os.path.relpath(a) if isinstance(a, Path) else a for a in arguments]
    print(f"\n$ tigris {' '.join(words)}", flush=True)
    done = subprocess.run([TIGRIS, *words], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stdout)
        sys.exit(done.returncode)
    return done.stdout


def oracle(inputs: NDArray[np.int8], recorded: NDArray[np.int8]) -> tuple[NDArray[np.int8], str]:
    """TensorFlow Lite Micro's outputs: computed now where it is installed, else those recorded with the inputs."""
    if tflm is None:
        version = json.loads((HERE / "accuracy.json").read_text())["versions"]["tflite-micro"]
        return recorded, f"recorded with tflite-micro {version}, which is not installed here"
    outputs = []
    for image in inputs:
        interpreter = tflm.Interpreter.from_file(str(MODEL))
        interpreter.set_input(image[np.newaxis], 0)
        interpreter.invoke()
        outputs.append(interpreter.get_output(0)[0].copy())
    return np.array(outputs), "run now"


def show(images: NDArray[np.uint8], predicted: list[int], labels: NDArray[np.uint8]) -> None:
    """Prints the digits, five in a row, with the predicted and the true label below each."""
    for start in range(0, len(images), 5):
        five = range(start, min(start + 5, len(images)))
        print()
        for row in range(8):
            print("   ".join("".join(INKS[int(v) * 9 // 16] * 2 for v in images[i][row]) for i in five))
        print("   ".join(f"read {predicted[i]}, true {labels[i]}".ljust(16) for i in five))


def main() -> int:
    started = time.monotonic()
    digits = np.load(HERE / "test_digits.npz")
    inputs, labels = digits["inputs"], digits["labels"]
    WORK.mkdir(parents=True, exist_ok=True)
    vectors, plan, project = WORK / "digits.npy", WORK / "digits.tgrs", WORK / "firmware"
    np.save(vectors, inputs)
    print(tigris("analyze", MODEL, "--board", BOARD, "-m", POOL))
    print(tigris("compile", MODEL, "-m", POOL, "-o", plan))
    print(tigris("codegen", plan, "--board", BOARD, "--test-input", vectors, "-o", project))
    host = []
    for number, image in enumerate(inputs):
        one, result = WORK / f"{number}.npy", WORK / f"{number}.out.npy"
        np.save(one, image[np.newaxis])
        subprocess.run(
            [TIGRIS, "run", plan, "--input", one, "--output", result],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        host.append(np.load(result)[0])
    report = json.loads(tigris("verify", project, "--json"))
    firmware = np.array([np.frombuffer(bytes.fromhex(outputs[0]), np.int8) for outputs in report["vectors"]])
    micro, how = oracle(inputs, digits["outputs"])
    show(digits["images"], [int(row.argmax()) for row in firmware], labels)
    same_host = np.array_equal(firmware, np.array(host))
    same_micro = np.array_equal(firmware, micro)
    print(f"\nboard         {report['board']} in {report['emulator']} ({report['machine']})")
    print(f"RAM           stated {report['ram_bytes']} B, measured {report['peak_bytes']} B (painted arena)")
    print(f"instructions  {report['instructions']} per inference")
    print(f"host run      {'the same bytes' if same_host else 'DIFFERENT BYTES'}")
    print(f"TFLite Micro  {'the same bytes' if same_micro else 'DIFFERENT BYTES'} ({how})")
    print(f"time          {time.monotonic() - started:.0f} s")
    passed = report["passed"] and same_host and same_micro
    print("PASS" if passed else "FAIL")
    return 0 if passed else 5


if __name__ == "__main__":
    sys.exit(main())
