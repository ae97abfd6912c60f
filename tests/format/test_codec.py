"""Encoding and decoding are inverse, and damaged files are PlanErrors, never anything else."""

from __future__ import annotations

import struct

import pytest

from tests.corpus.cases import CASES
from tests.format.plans import SMALL, compiled
from tigris_codegen.errors import PlanError
from tigris_codegen.plan import layout
from tigris_codegen.plan.codec import decode, encode, seal
from tigris_codegen.plan.plan import Plan
from tigris_codegen.plan.verify import PlanFault, verify
from tigris_codegen.session import load_status

#: Every eighth case, so that every family is there.
SAMPLE = sorted(CASES)[::8]
#: The verifier keeps a number per byte of RAM: it is for plans of the size that this machine has memory for.
MOST_BYTES = 1 << 20
CRC_AT = layout.HEADER.offsets()["crc32"]


def decoded(data: bytes) -> Plan | None:
    """The plan, or None where `decode` refuses it as it should; any other exception fails the test."""
    try:
        return decode(data)
    except PlanError as error:
        assert str(error) and error.hint
        return None


@pytest.mark.parametrize("case", SAMPLE)
def test_round_trip(case: str) -> None:
    for budget in ("roomy", "smallest"):
        made = compiled(case, budget)
        assert decode(made.plan_bytes) == made.plan
        assert encode(decode(made.plan_bytes)) == made.plan_bytes
        assert seal(made.plan_bytes) == made.plan_bytes


def test_round_trip_of_digits_at_many_budgets() -> None:
    least, most = (compiled("digits", b).plan.ram_bytes for b in ("smallest", "roomy"))
    for pool in range(least, most + 1, max((most - least) // 5, 1)):
        made = compiled("digits", str(pool))
        assert made.plan.ram_bytes <= pool
        assert decode(made.plan_bytes) == made.plan
        assert encode(decode(made.plan_bytes)) == made.plan_bytes


@pytest.mark.parametrize(("case", "budget"), SMALL)
def test_every_truncation_is_refused(case: str, budget: str) -> None:
    data = compiled(case, budget).plan_bytes
    file_bytes_at = layout.HEADER.offsets()["file_bytes"]
    for size in range(len(data)):
        assert decoded(data[:size]) is None
        if size >= layout.HEADER.size and size % 4 == 0:
            mended = data[:file_bytes_at] + struct.pack("<I", size) + data[file_bytes_at + 4 : size]
            shorter = decoded(seal(mended))
            # Where only padding behind the last section is gone, nothing is missing.
            assert shorter is None or len(data) - size < layout.ALIGNMENT


def test_one_changed_byte_is_noticed() -> None:
    data = compiled(*SMALL[0]).plan_bytes
    for at in range(len(data)):
        damaged = data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]
        assert decoded(damaged) is None, f"byte {at}"
        assert load_status(damaged) is not None, f"byte {at}"


@pytest.mark.parametrize(("case", "budget"), SMALL[:3])
def test_one_changed_byte_behind_a_good_checksum_is_handled(case: str, budget: str) -> None:
    """What decodes goes the rest of the way: the verifier and the encoder have an answer as well."""
    data = compiled(case, budget).plan_bytes
    tables = len(data) - len(compiled(case, budget).plan.constants)
    refused = faulty = 0
    for at in (n for n in range(min(tables, len(data))) if not CRC_AT <= n < CRC_AT + 4):
        plan = decoded(seal(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]))
        if plan is None:
            refused += 1
            continue
        if max(plan.fast_bytes, plan.slow_bytes, *(o.rows * o.row_bytes for o in plan.operands)) < MOST_BYTES:
            try:
                verify(plan)
            except PlanFault:
                faulty += 1
    assert refused > 50
    assert faulty > 100


def test_a_plan_of_another_version_is_named_so() -> None:
    data = compiled(*SMALL[0]).plan_bytes
    at = layout.HEADER.offsets()["version"]
    newer = seal(data[:at] + struct.pack("<H", layout.FORMAT_VERSION + 1) + data[at + 2 :])
    with pytest.raises(PlanError, match=f"plan format {layout.FORMAT_VERSION + 1}"):
        decode(newer)
    assert load_status(newer) == "the plan has another format version"
