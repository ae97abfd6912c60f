"""Plan <-> bytes. `encode(decode(data)) == data` for every plan that `encode` wrote."""

from __future__ import annotations

import struct
import zlib

from tigris_codegen.errors import PlanError
from tigris_codegen.plan import layout
from tigris_codegen.plan.fields import Struct, Value
from tigris_codegen.plan.kernel_table import KERNEL_FORMS
from tigris_codegen.plan.layout import Section
from tigris_codegen.plan.plan import Operand, Operator, Plan, Port, Record

AGAIN = "compile the model again"


def _pad(data: bytes, alignment: int) -> bytes:
    return data + bytes(-len(data) % alignment)


def _optional(index: int | None) -> int:
    return layout.ABSENT if index is None else index


def encode(plan: Plan) -> bytes:
    """The `.tgrs` file of a plan."""
    params = b""
    operators = b""
    for op in plan.operators:
        operators += layout.OPERATOR.pack(
            {
                "kernel": op.kernel,
                "source": _optional(op.source),
                "params": len(params),
                "output": op.output,
                "input": (*op.inputs, *[layout.ABSENT] * (3 - len(op.inputs))),
                "accumulator": _optional(op.accumulator),
                "scratch": _optional(op.scratch),
            }
        )
        params += KERNEL_FORMS[op.kernel].params.pack(op.params)
    operands = b"".join(
        layout.OPERAND.pack(
            {
                "location": o.space << layout.CONST_OFFSET_BITS | o.offset,
                "row_bytes": o.row_bytes,
                "rows": o.rows,
                "window": o.window,
                "tensor": _optional(o.tensor),
                "reserved": 0,
            }
        )
        for o in plan.operands
    )
    names, interface = b"", b""
    for port in (*plan.inputs, *plan.outputs):
        interface += layout.INTERFACE.pack(
            {
                "name": len(names),
                "operand": port.operand,
                "dtype": port.dtype,
                "rank": len(port.shape),
                "shape": (*port.shape, *[1] * (6 - len(port.shape))),
                "scale": port.scale,
                "zero_point": port.zero_point,
            }
        )
        names += port.name.encode() + b"\0"
    contents = {
        Section.OPERATORS: operators,
        Section.OPERANDS: operands,
        Section.SCHEDULE: b"".join(_encode_record(r) for r in plan.records),
        Section.INTERFACE: interface,
        Section.PARAMS: params,
        Section.CONSTANTS: plan.constants,
        Section.NAMES: names,
    }
    body, directory = b"", []
    for section in Section:
        directory += [layout.HEADER.size + len(body), len(contents[section])]
        body += _pad(contents[section], layout.ALIGNMENT)
    header: dict[str, Value] = {
        "magic": layout.MAGIC,
        "version": layout.FORMAT_VERSION,
        "backend": plan.backend,
        "file_bytes": layout.HEADER.size + len(body),
        "crc32": 0,
        "model_hash": tuple(plan.model_hash),
        "fast_bytes": plan.fast_bytes,
        "slow_bytes": plan.slow_bytes,
        "state_bytes": plan.state_bytes,
        "scratch_bytes": plan.scratch_bytes,
        "inputs": len(plan.inputs),
        "outputs": len(plan.outputs),
        "tolerance": plan.tolerance,
        "sections": tuple(directory),
    }
    return seal(layout.HEADER.pack(header) + body)


def _encode_record(record: Record) -> bytes:
    return layout.RECORD.pack(
        {
            "kind": record.kind,
            "flags": record.flags,
            "target": record.target,
            "row": record.row,
            "rows": record.rows,
            "channel": record.channel,
            "channels": record.channels,
            "advance": record.advance,
            "slot": record.slot,
        }
    )


def seal(data: bytes) -> bytes:
    """The file with its CRC-32 written again."""
    at = layout.HEADER.offsets()["crc32"]
    crc = zlib.crc32(data[at + 4 :], zlib.crc32(bytes(4), zlib.crc32(data[:at])))
    return data[:at] + struct.pack("<I", crc) + data[at + 4 :]


def decode(data: bytes) -> Plan:
    """The plan in a `.tgrs` file; PlanError for a file that is damaged or of another version.

    Proves that the tables can be read, not that the schedule is right: that is `plan.verify` and the loader.
    """
    if len(data) < layout.HEADER.size:
        raise PlanError(f"not a Tigris plan: {len(data)} bytes are shorter than a plan's header", AGAIN)
    head = layout.HEADER.unpack(data)
    if head["magic"] != layout.MAGIC:
        raise PlanError("not a Tigris plan: it does not start with TGRS", "name a .tgrs file made by tigris compile")
    if head["version"] != layout.FORMAT_VERSION:
        raise PlanError(f"plan format {head['version']}, this version reads {layout.FORMAT_VERSION}", AGAIN)
    if head["file_bytes"] != len(data):
        raise PlanError(f"the plan says it is {head['file_bytes']} bytes long, the file has {len(data)}", AGAIN)
    if seal(data) != data:
        raise PlanError("the plan is damaged: its checksum is wrong", AGAIN)
    try:
        return _decode_tables(data, head)
    except (struct.error, KeyError, ValueError, IndexError, UnicodeDecodeError) as error:
        raise PlanError(f"the plan is inconsistent: {error}", AGAIN) from error


def _decode_tables(data: bytes, head: dict[str, Value]) -> Plan:
    numbers = head["sections"]
    assert isinstance(numbers, tuple)
    sections: dict[Section, bytes] = {}
    for section in Section:
        offset, size = numbers[2 * section], numbers[2 * section + 1]
        if offset % layout.ALIGNMENT or offset + size > len(data):
            raise ValueError(f"section {section.name} leaves the file")
        sections[section] = data[offset : offset + size]
    operators = []
    for values in _table(layout.OPERATOR, sections[Section.OPERATORS]):
        form = KERNEL_FORMS[int(_int(values["kernel"]))]
        inputs = values["input"]
        assert isinstance(inputs, tuple)
        operators.append(
            Operator(
                kernel=_int(values["kernel"]),
                source=_absent(values["source"]),
                params=form.params.unpack(sections[Section.PARAMS], _int(values["params"])),
                output=_int(values["output"]),
                inputs=tuple(i for i in inputs if i != layout.ABSENT),
                accumulator=_absent(values["accumulator"]),
                scratch=_absent(values["scratch"]),
            )
        )
    operands = tuple(
        Operand(
            space=layout.Space(_int(v["location"]) >> layout.CONST_OFFSET_BITS),
            offset=_int(v["location"]) & ((1 << layout.CONST_OFFSET_BITS) - 1),
            row_bytes=_int(v["row_bytes"]),
            rows=_int(v["rows"]),
            window=_int(v["window"]),
            tensor=_absent(v["tensor"]),
        )
        for v in _table(layout.OPERAND, sections[Section.OPERANDS])
    )
    ports = tuple(
        _decode_port(v, sections[Section.NAMES]) for v in _table(layout.INTERFACE, sections[Section.INTERFACE])
    )
    inputs_count, outputs_count = _int(head["inputs"]), _int(head["outputs"])
    if inputs_count + outputs_count != len(ports):
        raise ValueError(f"{len(ports)} interface entries for {inputs_count} inputs and {outputs_count} outputs")
    hash_bytes = head["model_hash"]
    assert isinstance(hash_bytes, tuple)
    return Plan(
        backend=layout.Backend(_int(head["backend"])),
        model_hash=bytes(hash_bytes),
        fast_bytes=_int(head["fast_bytes"]),
        slow_bytes=_int(head["slow_bytes"]),
        state_bytes=_int(head["state_bytes"]),
        scratch_bytes=_int(head["scratch_bytes"]),
        tolerance=float(_number(head["tolerance"])),
        operators=tuple(operators),
        operands=operands,
        records=tuple(_decode_record(v) for v in _table(layout.RECORD, sections[Section.SCHEDULE])),
        inputs=ports[:inputs_count],
        outputs=ports[inputs_count:],
        constants=sections[Section.CONSTANTS],
    )


def _table(struct_: Struct, data: bytes) -> list[dict[str, Value]]:
    if len(data) % struct_.size:
        raise ValueError(f"{len(data)} bytes are no whole number of {struct_.name} entries")
    return [struct_.unpack(data, at) for at in range(0, len(data), struct_.size)]


def _decode_record(v: dict[str, Value]) -> Record:
    slot = v["slot"]
    assert isinstance(slot, tuple)
    return Record(
        kind=layout.Kind(_int(v["kind"])),
        target=_int(v["target"]),
        row=_int(v["row"]),
        rows=_int(v["rows"]),
        flags=layout.Flag(_int(v["flags"])),
        channel=_int(v["channel"]),
        channels=_int(v["channels"]),
        advance=_int(v["advance"]),
        slot=(slot[0], slot[1], slot[2]),
    )


def _decode_port(v: dict[str, Value], names: bytes) -> Port:
    start, rank, shape = _int(v["name"]), _int(v["rank"]), v["shape"]
    assert isinstance(shape, tuple)
    if rank > len(shape):
        raise ValueError(f"rank {rank}")
    return Port(
        name=names[start : names.index(b"\0", start)].decode(),
        operand=_int(v["operand"]),
        dtype=layout.DTypeId(_int(v["dtype"])),
        shape=shape[:rank],
        scale=float(_number(v["scale"])),
        zero_point=_int(v["zero_point"]),
    )


def _number(value: Value) -> int | float:
    assert isinstance(value, int | float)
    return value


def _int(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _absent(value: Value) -> int | None:
    return None if value == layout.ABSENT else _int(value)
