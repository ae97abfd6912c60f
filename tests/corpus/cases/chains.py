"""Short chains: where bands of several operators follow each other, tensors share memory and views meet rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.corpus.layers import (
    activation_input,
    binary,
    concatenation,
    conv_2d,
    depthwise_conv_2d,
    dequantize,
    fully_connected,
    logistic,
    mean,
    pad,
    pool_2d,
    quantize,
    relu,
    reshape,
    softmax,
)
from tests.corpus.writer import ModelWriter, Tensor

Ends = tuple[list[Tensor], list[Tensor]]


def conv_depthwise_conv(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 16, 10, 3), dtype)
    y = conv_2d(m, x, 8, (3, 3), stride=(2, 2), activation="RELU6")
    y = depthwise_conv_2d(m, y, 1, (3, 3), activation="RELU6")
    return [x], [conv_2d(m, y, 6, (1, 1))]


def conv_conv_valid(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 18, 7, 2), dtype)
    y = conv_2d(m, x, 4, (5, 3), padding="VALID", activation="RELU")
    return [x], [conv_2d(m, y, 3, (3, 3), padding="VALID", stride=(2, 1))]


def inverted_residual(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 12, 6, 4), dtype)
    y = conv_2d(m, x, 12, (1, 1), activation="RELU6")
    y = depthwise_conv_2d(m, y, 1, (3, 3), activation="RELU6")
    y = conv_2d(m, y, 4, (1, 1))
    return [x], [binary(m, x, y, "ADD")]


def residual(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 12, 6, 4), dtype)
    y = conv_2d(m, x, 4, (3, 3), activation="RELU")
    y = conv_2d(m, y, 4, (3, 3))
    return [x], [binary(m, y, x, "ADD", activation="RELU")]


def residual_downsampled(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 12, 8, 3), dtype)
    y = conv_2d(m, x, 5, (3, 3), stride=(2, 2), activation="RELU")
    y = conv_2d(m, y, 5, (3, 3))
    z = conv_2d(m, x, 5, (1, 1), stride=(2, 2))
    return [x], [binary(m, y, z, "ADD")]


def pad_conv(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 11, 8, 3), dtype, zero_point=-128)
    y = pad(m, x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return [x], [conv_2d(m, y, 4, (3, 3), padding="VALID", stride=(2, 2))]


def pad_depthwise(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 10, 7, 3), dtype)
    y = pad(m, x, ((0, 0), (0, 1), (0, 1), (0, 0)))
    return [x], [depthwise_conv_2d(m, y, 1, (3, 3), padding="VALID", stride=(2, 2))]


def pad_beyond_kernel(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 5, 4, 2), dtype)
    y = pad(m, x, ((0, 0), (3, 2), (2, 3), (0, 0)))
    return [x], [conv_2d(m, y, 3, (2, 2), padding="VALID")]


def pad_beyond_kernel_batch2(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (2, 4, 3, 2), dtype)
    y = pad(m, x, ((0, 0), (4, 3), (1, 1), (0, 0)))
    return [x], [depthwise_conv_2d(m, y, 1, (3, 3), padding="VALID", stride=(2, 1))]


def pad_beyond_kernel_max_pool(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 5, 4, 2), dtype, zero_point=-128)
    y = pad(m, x, ((0, 0), (3, 2), (0, 3), (0, 0)))
    return [x], [pool_2d(m, y, "MAX_POOL_2D", (2, 2))]


def pad_conv_same(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 6, 5, 2), dtype)
    y = pad(m, x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return [x], [conv_2d(m, y, 3, (3, 3), padding="SAME")]


def pad_channels_conv(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 6, 5, 2), dtype)
    y = pad(m, x, ((0, 0), (1, 1), (1, 1), (0, 1)))
    return [x], [conv_2d(m, y, 3, (3, 3), padding="VALID")]


def pad_used_twice(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 6, 5, 2), dtype)
    y = pad(m, x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    left = conv_2d(m, y, 2, (3, 3), padding="VALID")
    return [x], [left, pool_2d(m, y, "MAX_POOL_2D", (2, 2))]


def pad_max_pool(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 9, 6, 2), dtype, zero_point=-128)
    y = pad(m, x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return [x], [pool_2d(m, y, "MAX_POOL_2D", (3, 3), stride=(2, 2))]


def pad_average_pool(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 9, 6, 2), dtype)
    y = pad(m, x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return [x], [pool_2d(m, y, "AVERAGE_POOL_2D", (3, 3), stride=(2, 2))]


def conv_global_mean(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 14, 6, 2), dtype)
    y = conv_2d(m, x, 7, (3, 3), activation="RELU")
    return [x], [mean(m, y, (1, 2))]


def conv_global_average_pool_softmax(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 10, 8, 2), dtype)
    y = conv_2d(m, x, 6, (3, 3), stride=(2, 2))
    y = pool_2d(m, y, "AVERAGE_POOL_2D", (5, 4))
    y = reshape(m, y, (1, 6))
    return [x], [softmax(m, y)]


def conv_global_max_pool(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 10, 8, 2), dtype)
    y = depthwise_conv_2d(m, x, 3, (3, 3))
    return [x], [pool_2d(m, y, "MAX_POOL_2D", (10, 8))]


def conv_reshape_fully_connected(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 10, 6, 2), dtype)
    y = conv_2d(m, x, 4, (3, 3), stride=(2, 2), activation="RELU")
    y = reshape(m, y, (1, 60))
    return [x], [fully_connected(m, y, 5)]


def conv_fully_connected_flattening(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 8, 5, 2), dtype)
    y = conv_2d(m, x, 3, (3, 3), activation="RELU")
    return [x], [fully_connected(m, y, 4, in_features=120)]


def fully_connected_three_layers(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 40), dtype)
    y = fully_connected(m, x, 16, activation="RELU")
    y = fully_connected(m, y, 8, activation="RELU", per_channel=True)
    return [x], [softmax(m, fully_connected(m, y, 3))]


def two_branches_concatenated(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 9, 6, 3), dtype)
    left = conv_2d(m, x, 4, (1, 1))
    right = conv_2d(m, x, 3, (3, 3))
    return [x], [concatenation(m, [left, right], 3)]


def branches_stacked(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 9, 6, 3), dtype)
    top = conv_2d(m, x, 4, (3, 3), stride=(2, 1))
    bottom = conv_2d(m, x, 4, (3, 3), padding="VALID", stride=(1, 1), dilation=(1, 1))
    bottom = pad(m, bottom, ((0, 0), (0, 0), (1, 1), (0, 0)))
    return [x], [concatenation(m, [top, bottom], 1)]


def concatenation_conv(m: ModelWriter, dtype: str) -> Ends:
    a = activation_input(m, (1, 5, 6, 2), dtype, name="a")
    b = activation_input(m, (1, 7, 6, 2), dtype, name="b")
    return [a, b], [conv_2d(m, concatenation(m, [a, b], 1), 3, (3, 3))]


def squeeze_and_excite(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 8, 6, 4), dtype)
    y = conv_2d(m, x, 6, (3, 3), activation="RELU")
    gate = mean(m, y, (1, 2), keep_dims=True)
    gate = conv_2d(m, gate, 3, (1, 1), activation="RELU")
    gate = logistic(m, conv_2d(m, gate, 6, (1, 1)))
    return [x], [binary(m, y, gate, "MUL", scale=0.04)]


def reshape_between_images(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 8, 6, 2), dtype)
    y = reshape(m, conv_2d(m, x, 4, (3, 3)), (1, 16, 12, 1))
    return [x], [conv_2d(m, y, 2, (3, 3), stride=(2, 2))]


def signal_chain(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 48), dtype)
    y = reshape(m, x, (1, 1, 48, 1))
    y = conv_2d(m, y, 4, (1, 5), stride=(1, 2), activation="RELU")
    y = depthwise_conv_2d(m, y, 1, (1, 3))
    y = pool_2d(m, y, "MAX_POOL_2D", (1, 2), stride=(1, 2))
    return [x], [fully_connected(m, reshape(m, y, (1, 48)), 3)]


def batch_chain(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (3, 8, 5, 2), dtype)
    y = conv_2d(m, x, 4, (3, 3), activation="RELU")
    y = pool_2d(m, y, "AVERAGE_POOL_2D", (2, 2), stride=(2, 2), padding="SAME")
    return [x], [mean(m, depthwise_conv_2d(m, y, 1, (3, 3)), (1, 2))]


def intermediate_output(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 9, 6, 2), dtype)
    y = conv_2d(m, x, 3, (3, 3))
    return [x], [conv_2d(m, y, 2, (3, 3)), y]


def activations_apart(m: ModelWriter, dtype: str) -> Ends:
    x = activation_input(m, (1, 9, 6, 2), dtype)
    y = relu(m, conv_2d(m, x, 3, (3, 3)), "RELU6")
    return [x], [relu(m, binary(m, y, y, "ADD"), "RELU")]


def broadcast_chain(m: ModelWriter, dtype: str) -> Ends:
    a = activation_input(m, (1, 7, 1, 3), dtype, name="a")
    b = activation_input(m, (1, 1, 5, 3), dtype, name="b")
    y = binary(m, a, b, "ADD")
    return [a, b], [binary(m, conv_2d(m, y, 3, (3, 3)), a, "MUL")]


def uint8_in_and_out(m: ModelWriter) -> Ends:
    x = activation_input(m, (1, 9, 7, 2), "uint8", scale=1 / 16, zero_point=128)
    y = quantize(m, x, scale=1 / 16, zero_point=0)
    y = conv_2d(m, y, 3, (3, 3), stride=(2, 2), activation="RELU")
    y = conv_2d(m, y, 2, (3, 3), zero_point=-5)
    return [x], [quantize(m, y, "uint8", zero_point=123)]


def uint8_classifier(m: ModelWriter) -> Ends:
    x = activation_input(m, (1, 12, 6, 1), "uint8", scale=1 / 32, zero_point=0)
    y = quantize(m, x, scale=1 / 32, zero_point=-128)
    y = mean(m, conv_2d(m, y, 5, (3, 3), activation="RELU"), (1, 2))
    y = softmax(m, fully_connected(m, y, 4))
    return [x], [quantize(m, y, "uint8", scale=1 / 256, zero_point=0)]


def float_in_and_out(m: ModelWriter) -> Ends:
    x = activation_input(m, (1, 10, 6, 2), "float32")
    y = conv_2d(m, quantize(m, x), 3, (3, 3), activation="RELU6")
    y = depthwise_conv_2d(m, y, 1, (3, 3))
    return [x], [dequantize(m, y)]


def float_classifier(m: ModelWriter) -> Ends:
    x = activation_input(m, (1, 30), "float32")
    y = fully_connected(m, quantize(m, x), 8, activation="RELU")
    return [x], [dequantize(m, softmax(m, fully_connected(m, y, 5)))]


QUANTIZED: tuple[Callable[..., Ends], ...] = (
    conv_depthwise_conv,
    conv_conv_valid,
    inverted_residual,
    residual,
    residual_downsampled,
    pad_conv,
    pad_depthwise,
    pad_beyond_kernel,
    pad_beyond_kernel_batch2,
    pad_beyond_kernel_max_pool,
    pad_conv_same,
    pad_channels_conv,
    pad_used_twice,
    pad_max_pool,
    pad_average_pool,
    conv_global_mean,
    conv_global_average_pool_softmax,
    conv_global_max_pool,
    conv_reshape_fully_connected,
    conv_fully_connected_flattening,
    fully_connected_three_layers,
    two_branches_concatenated,
    branches_stacked,
    concatenation_conv,
    squeeze_and_excite,
    reshape_between_images,
    signal_chain,
    batch_chain,
    intermediate_output,
    activations_apart,
    broadcast_chain,
)
MIXED: tuple[Callable[[ModelWriter], Ends], ...] = (
    uint8_in_and_out,
    uint8_classifier,
    float_in_and_out,
    float_classifier,
)
#: Those that exist in float too.
FLOAT: tuple[Callable[..., Ends], ...] = (
    conv_depthwise_conv,
    inverted_residual,
    residual,
    pad_conv,
    pad_used_twice,
    pad_average_pool,
    conv_global_mean,
    conv_global_average_pool_softmax,
    conv_reshape_fully_connected,
    conv_fully_connected_flattening,
    two_branches_concatenated,
    concatenation_conv,
    squeeze_and_excite,
    batch_chain,
)
CASES: dict[str, Callable[[ModelWriter], Ends]] = {
    **{f"chain_{typed.__name__}_s8": partial(typed, dtype="int8") for typed in QUANTIZED},
    **{f"chain_{typed.__name__}_f32": partial(typed, dtype="float32") for typed in FLOAT},
    **{f"chain_{mixed.__name__}": mixed for mixed in MIXED},
}
