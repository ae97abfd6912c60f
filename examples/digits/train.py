#!/usr/bin/env python3
"""Trains the demo model: handwritten digits, 32x32 pixels, full int8.

Writes beside this script, once every check below has passed:

    digits.tflite     the model
    test_digits.npz   ten held-out digits, one of each class, and TensorFlow Lite Micro's bytes on them
    accuracy.json     held-out accuracy, sizes and the versions that produced them

The packages it needs are in requirements.txt; the compiler itself needs none of them.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import version
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# Read when TensorFlow is imported. The order of a threaded sum and the oneDNN kernel chosen vary with the machine.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf
import tflite
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tflite_micro import runtime

HERE = Path(__file__).resolve().parent

SEED = 1
SIDE = 32  # pixels along a side of the model's input
SOURCE_SIDE = 8  # and of a digit in the data set
SOURCE_MAX = 16  # its darkest pixel
HELD_OUT = 360
EPOCHS = 40
BATCH = 32
REPRESENTATIVE = 256

ALLOWED_OPERATORS = {"CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "MEAN", "FULLY_CONNECTED", "SOFTMAX"}
MIN_ACCURACY = 0.97
MIN_TENSOR_PEAK = 36 * 1024  # the demo's memory is 16 KiB: whole tensors must be far from fitting
MAX_MODEL_BYTES = 60_000
MAX_MACS = 3_000_000

PACKAGES = ("keras", "numpy", "scikit-learn", "tensorflow-cpu", "tflite", "tflite-micro")  # as in requirements.txt


class CheckFailed(Exception):
    """The trained model is not what the demo needs; nothing was written."""


def upscale(digits: NDArray[Any], maps: NDArray[np.float32]) -> NDArray[np.float32]:
    """Bilinear samples of 8x8 digits on the 32x32 grid, as [n, 32, 32, 1] in 0 to 1; white outside the digit.

    `maps` [n, 2, 3] takes (y, x, 1) of the output, in -1 to 1 from edge to edge, to the point of the digit it shows.
    """
    centres = (np.arange(SIDE, dtype=np.float32) + 0.5) * (2 / SIDE) - 1
    y, x = np.meshgrid(centres, centres, indexing="ij")
    grid = np.stack([y, x, np.ones_like(y)]).reshape(3, -1)
    # In pixels of the digit behind a border of one white pixel, so that all four neighbours exist.
    points = (maps @ grid + 1) * (SOURCE_SIDE / 2) - 0.5 + 1
    points = np.clip(points, 0, SOURCE_SIDE + 1 - 1e-4)
    corner = points.astype(np.int64)
    fy, fx = np.moveaxis(points - corner, 1, 0)
    cy, cx = np.moveaxis(corner, 1, 0)
    bordered = np.pad(digits.astype(np.float32) / SOURCE_MAX, ((0, 0), (1, 1), (1, 1)))
    n = np.arange(len(digits))[:, None]
    top = bordered[n, cy, cx] * (1 - fx) + bordered[n, cy, cx + 1] * fx
    bottom = bordered[n, cy + 1, cx] * (1 - fx) + bordered[n, cy + 1, cx + 1] * fx
    return (top * (1 - fy) + bottom * fy).reshape(-1, SIDE, SIDE, 1).astype(np.float32)


def straight(digits: NDArray[Any]) -> NDArray[np.float32]:
    """The digits as they are."""
    return upscale(digits, np.tile(np.eye(2, 3, dtype=np.float32), (len(digits), 1, 1)))


def distorted(digits: NDArray[Any], random: np.random.Generator) -> NDArray[np.float32]:
    """The digits turned, scaled, sheared and moved a little, each in its own way."""
    n = len(digits)
    angle, shear = random.uniform(-0.2, 0.2, n), random.uniform(-0.15, 0.15, n)
    height, width = random.uniform(0.88, 1.12, (2, n))
    down, right = random.uniform(-0.12, 0.12, (2, n))
    maps = np.empty((n, 2, 3), np.float32)
    maps[:, 0] = np.stack([height * np.cos(angle), width * np.sin(angle), down], axis=1)
    maps[:, 1] = np.stack([shear - height * np.sin(angle), width * np.cos(angle), right], axis=1)
    return upscale(digits, maps)


def build(batch: int | None = None) -> tf.keras.Model:
    """Three tensors of 16 KiB live at once in the first residual block, then three strides lead down to 4x4."""
    layers = tf.keras.layers

    def conv(x: Any, channels: int, kernel: int, stride: int = 1, relu: bool = True) -> Any:
        x = layers.Conv2D(channels, kernel, stride, "same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        return layers.ReLU()(x) if relu else x

    def depthwise(x: Any, stride: int = 1) -> Any:
        x = layers.DepthwiseConv2D(3, stride, "same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        return layers.ReLU()(x)

    def residual(x: Any, channels: int) -> Any:
        branch = conv(depthwise(x), channels, 1, relu=False)
        return layers.ReLU()(layers.Add()([x, branch]))

    pixels = tf.keras.Input((SIDE, SIDE, 1), batch, name="pixels")
    x = conv(pixels, 16, 3)
    x = residual(x, 16)
    x = conv(depthwise(x, 2), 32, 1)
    x = residual(x, 32)
    x = conv(x, 64, 3, 2)
    x = conv(depthwise(x, 2), 64, 1)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dense(10)(x)
    return tf.keras.Model(pixels, layers.Softmax()(x), name="digits")


def train(digits: NDArray[Any], labels: NDArray[Any]) -> tf.keras.Model:
    """A fixed number of epochs on distorted digits: no early stop, so the held-out digits choose nothing."""
    random = np.random.default_rng(SEED)
    steps = EPOCHS * -(-len(digits) // BATCH)
    model = build()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(4e-3, steps)),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    for epoch in range(EPOCHS):
        images, order = distorted(digits, random), random.permutation(len(digits))
        model.reset_metrics()
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            loss, accuracy = model.train_on_batch(images[batch], labels[batch])  # means over the epoch so far
        print(f"epoch {epoch + 1:2d}/{EPOCHS}  loss {loss:.4f}  accuracy {accuracy:.4f}", flush=True)
    return model


def convert(model: tf.keras.Model, digits: NDArray[Any]) -> bytes:
    """Full int8, batch 1 fixed, so that no operator has to compute a shape at run time."""
    single = build(batch=1)
    single.set_weights(model.get_weights())
    converter = tf.lite.TFLiteConverter.from_keras_model(single)
    images = straight(digits[:REPRESENTATIVE])
    converter.representative_dataset = lambda: ([image[None]] for image in images)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    return bytes(converter.convert())


class Structure:
    """What the .tflite file says of itself: operators, element types, live tensors, multiply-accumulates."""

    def __init__(self, data: bytes) -> None:
        names = {code: name for name, code in vars(tflite.BuiltinOperator).items() if isinstance(code, int)}
        root = tflite.Model.GetRootAsModel(data, 0)
        graph = root.Subgraphs(0)
        tensors = [graph.Tensors(i) for i in range(graph.TensorsLength())]
        size = [prod(int(n) for n in t.ShapeAsNumpy()) if t.ShapeLength() else 1 for t in tensors]
        computed = {int(t) for t in graph.InputsAsNumpy()}
        last_read = dict.fromkeys(computed, -1)
        born = dict.fromkeys(computed, -1)
        self.operators: list[str] = []
        self.macs = 0
        self.types: set[int] = {tensors[t].Type() for t in computed}
        for i in range(graph.OperatorsLength()):
            op = graph.Operators(i)
            code = root.OperatorCodes(op.OpcodeIndex())
            name = names[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]
            inputs, outputs = [int(t) for t in op.InputsAsNumpy()], [int(t) for t in op.OutputsAsNumpy()]
            self.operators.append(name)
            self.types |= {tensors[t].Type() for t in outputs}
            born.update(dict.fromkeys(outputs, i))
            last_read.update({t: i for t in (*inputs, *outputs) if t in born})
            if name in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
                # One multiplication per weight and output position; a position is all channels of an output pixel.
                out_channels = int(tensors[outputs[0]].ShapeAsNumpy()[-1])
                self.macs += size[inputs[1]] * (size[outputs[0]] // out_channels)
        last_read.update({int(t): graph.OperatorsLength() for t in graph.OutputsAsNumpy()})
        constants = set(range(len(tensors))) - set(born)
        self.weights = sum(size[t] for t in constants if tensors[t].Type() == tflite.TensorType.INT8)
        self.tensor_peak = max(
            sum(size[t] for t in born if born[t] <= step <= last_read[t]) for step in range(len(self.operators))
        )


class Interpreter:
    """TensorFlow Lite Micro on the host."""

    def __init__(self, model: bytes) -> None:
        self.tflm = runtime.Interpreter.from_bytes(model)
        details = self.tflm.get_input_details(0)
        self.scale = float(details["quantization_parameters"]["scales"][0])
        self.zero_point = int(details["quantization_parameters"]["zero_points"][0])

    def quantize(self, images: NDArray[np.float32]) -> NDArray[np.int8]:
        return np.clip(np.round(images / self.scale) + self.zero_point, -128, 127).astype(np.int8)

    def run(self, inputs: NDArray[np.int8]) -> NDArray[np.int8]:
        rows = []
        for one in inputs:
            self.tflm.set_input(one[None], 0)
            self.tflm.invoke()
            rows.append(self.tflm.get_output(0)[0])
        return np.stack(rows)


def check(data: bytes, structure: Structure, accuracy: float) -> None:
    """Raises unless the model is what the demo needs."""
    unexpected = set(structure.operators) - ALLOWED_OPERATORS
    missing = ALLOWED_OPERATORS - set(structure.operators)
    requirements = [
        (not unexpected, f"unexpected operators {sorted(unexpected)}"),
        (not missing, f"missing operators {sorted(missing)}"),
        (structure.types == {tflite.TensorType.INT8}, f"element types {sorted(structure.types)}, only int8 expected"),
        (accuracy >= MIN_ACCURACY, f"int8 accuracy {accuracy:.4f} below {MIN_ACCURACY}"),
        (structure.tensor_peak >= MIN_TENSOR_PEAK, f"tensor peak {structure.tensor_peak} below {MIN_TENSOR_PEAK}"),
        (structure.macs <= MAX_MACS, f"{structure.macs} multiply-accumulates, {MAX_MACS} allowed"),
        (len(data) <= MAX_MODEL_BYTES, f"model of {len(data)} bytes, {MAX_MODEL_BYTES} allowed"),
    ]
    broken = [message for kept, message in requirements if not kept]
    if broken:
        raise CheckFailed("; ".join(broken))


def main() -> int:
    tf.keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)

    source = load_digits()
    digits, held_digits, labels, held_labels = train_test_split(
        source.images.astype(np.uint8), source.target, test_size=HELD_OUT, random_state=SEED, stratify=source.target
    )
    model = train(digits, labels)
    held_images = straight(held_digits)
    float_correct = int((model(held_images, training=False).numpy().argmax(1) == held_labels).sum())

    data = convert(model, digits)
    structure = Structure(data)
    interpreter = Interpreter(data)
    inputs = interpreter.quantize(held_images)
    outputs = interpreter.run(inputs)
    int8_correct = int((outputs.argmax(1) == held_labels).sum())
    check(data, structure, int8_correct / HELD_OUT)

    # The first held-out digit of each class, right or wrong.
    chosen = np.array([int(np.flatnonzero(held_labels == label)[0]) for label in range(10)])
    record = {
        "held_out_samples": HELD_OUT,
        "float_correct": float_correct,
        "float_accuracy": round(float_correct / HELD_OUT, 4),
        "int8_correct": int8_correct,
        "int8_accuracy": round(int8_correct / HELD_OUT, 4),
        "int8_run_with": "tflite-micro",
        "ten_test_digits_correct": int((outputs[chosen].argmax(1) == held_labels[chosen]).sum()),
        "seed": SEED,
        "model_bytes": len(data),
        "weights": structure.weights,
        "multiply_accumulates": structure.macs,
        "tensor_peak_bytes": structure.tensor_peak,
        "operators": structure.operators,
        "input_scale": interpreter.scale,
        "input_zero_point": interpreter.zero_point,
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
    }
    with TemporaryDirectory(dir=HERE) as name:
        folder = Path(name)
        (folder / "digits.tflite").write_bytes(data)
        (folder / "accuracy.json").write_text(json.dumps(record, indent=2) + "\n")
        np.savez_compressed(
            folder / "test_digits.npz",
            images=held_digits[chosen],
            inputs=inputs[chosen],
            labels=held_labels[chosen].astype(np.uint8),
            outputs=outputs[chosen],
        )
        for path in sorted(folder.iterdir()):
            path.replace(HERE / path.name)
    print(json.dumps(record, indent=2))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CheckFailed as failure:
        sys.exit(f"nothing written: {failure}")
