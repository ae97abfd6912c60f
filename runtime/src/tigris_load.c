/* The loader: proves a plan once, so that the executor can obey it blindly (docs/SAFETY.md numbers the invariants). */
#include "params_bytes.h"
#include "plan_access.h"
#include "tigris_kernel.h"

static uint32_t crc32_of(const uint8_t *data, uint32_t size, uint32_t skip)
{
    /* Nibble by nibble: a 64-byte table is the usual price of CRC-32 on a device. `skip` is read as four zeros. */
    static const uint32_t table[16] = {
        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
        0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu, 0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu,
    };
    uint32_t crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t byte = i - skip < 4u ? 0u : data[i];
        crc = (crc >> 4) ^ table[(crc ^ byte) & 15u];
        crc = (crc >> 4) ^ table[(crc ^ (byte >> 4)) & 15u];
    }
    return ~crc;
}

static uint32_t space_bytes(const tigris_plan_t *plan, uint32_t space)
{
    switch (space) {
    case TIGRIS_SPACE_FAST:
        return plan->header->fast_bytes;
    case TIGRIS_SPACE_SLOW:
        return plan->header->slow_bytes;
    case TIGRIS_SPACE_STATE:
        return plan->header->state_bytes;
    case TIGRIS_SPACE_CONSTANTS:
        return plan->header->sections[2u * TIGRIS_SECTION_CONSTANTS + 1u];
    default:
        return 0;
    }
}

static tigris_status_t check_sections(tigris_plan_t *plan)
{
    static const uint8_t entry_bytes[TIGRIS_SECTIONS] = {
        sizeof(tigris_operator_t), sizeof(tigris_operand_t), sizeof(tigris_record_t), sizeof(tigris_interface_t), 4, 1, 1,
    };
    const tigris_header_t *header = plan->header;
    for (uint32_t i = 0; i < TIGRIS_SECTIONS; i++) {
        uint32_t offset = header->sections[2u * i];
        uint32_t bytes = header->sections[2u * i + 1u];
        if (offset % TIGRIS_TENSOR_ALIGN != 0u || offset < sizeof(tigris_header_t) || offset > header->file_bytes ||
            bytes > header->file_bytes - offset || bytes % entry_bytes[i] != 0u) {
            return TIGRIS_ERR_FORMAT;
        }
    }
    plan->operators = (const void *)(plan->bytes + header->sections[2u * TIGRIS_SECTION_OPERATORS]);
    plan->operands = (const void *)(plan->bytes + header->sections[2u * TIGRIS_SECTION_OPERANDS]);
    plan->records = (const void *)(plan->bytes + header->sections[2u * TIGRIS_SECTION_SCHEDULE]);
    plan->interfaces = (const void *)(plan->bytes + header->sections[2u * TIGRIS_SECTION_INTERFACE]);
    plan->params = plan->bytes + header->sections[2u * TIGRIS_SECTION_PARAMS];
    plan->constants = plan->bytes + header->sections[2u * TIGRIS_SECTION_CONSTANTS];
    plan->names = (const char *)(plan->bytes + header->sections[2u * TIGRIS_SECTION_NAMES]);
    plan->record_count = header->sections[2u * TIGRIS_SECTION_SCHEDULE + 1u] / (uint32_t)sizeof(tigris_record_t);
    return TIGRIS_OK;
}

static uint32_t operand_count(const tigris_plan_t *plan)
{
    return plan->header->sections[2u * TIGRIS_SECTION_OPERANDS + 1u] / (uint32_t)sizeof(tigris_operand_t);
}

static uint32_t operator_count(const tigris_plan_t *plan)
{
    return plan->header->sections[2u * TIGRIS_SECTION_OPERATORS + 1u] / (uint32_t)sizeof(tigris_operator_t);
}

static tigris_status_t check_operands(const tigris_plan_t *plan)
{
    for (uint32_t i = 0; i < operand_count(plan); i++) {
        const tigris_operand_t *operand = &plan->operands[i];
        uint64_t end = (uint64_t)tigris_held_rows(operand) * operand->row_bytes + tigris_offset(operand);
        if (operand->rows == 0u || operand->row_bytes == 0u || tigris_offset(operand) % TIGRIS_TENSOR_ALIGN != 0u) {
            return TIGRIS_ERR_FORMAT;
        }
        if (end > space_bytes(plan, tigris_space(operand))) {
            return TIGRIS_ERR_BOUNDS;
        }
    }
    return TIGRIS_OK;
}

static uint32_t dtype_bytes(uint32_t dtype)
{
    static const uint8_t bytes[] = {0, 1, 1, 2, 4, 8, 4, 1};
    return dtype < sizeof bytes ? bytes[dtype] : 0u;
}

static tigris_status_t check_interfaces(const tigris_plan_t *plan)
{
    const tigris_header_t *header = plan->header;
    uint32_t names_bytes = header->sections[2u * TIGRIS_SECTION_NAMES + 1u];
    uint32_t count = header->sections[2u * TIGRIS_SECTION_INTERFACE + 1u] / (uint32_t)sizeof(tigris_interface_t);
    if (count != (uint32_t)header->inputs + header->outputs ||
        (names_bytes != 0u && plan->names[names_bytes - 1u] != '\0')) {
        return TIGRIS_ERR_FORMAT;
    }
    for (uint32_t i = 0; i < count; i++) {
        const tigris_interface_t *port = &plan->interfaces[i];
        uint64_t bytes = dtype_bytes(port->dtype);
        if (port->name >= names_bytes || port->operand >= operand_count(plan) || port->rank > 6u || bytes == 0u) {
            return TIGRIS_ERR_FORMAT;
        }
        const tigris_operand_t *operand = &plan->operands[port->operand];
        uint64_t held = (uint64_t)operand->rows * operand->row_bytes;
        for (uint32_t d = 0; d < 6u; d++) {
            bytes *= port->shape[d];
            if (bytes == 0u || bytes > held) {
                return TIGRIS_ERR_FORMAT;
            }
        }
        if (bytes != held || operand->window != 0u || tigris_space(operand) > TIGRIS_SPACE_SLOW) {
            return TIGRIS_ERR_FORMAT;
        }
    }
    return TIGRIS_OK;
}

static tigris_status_t check_operators(const tigris_plan_t *plan)
{
    uint32_t params_bytes = plan->header->sections[2u * TIGRIS_SECTION_PARAMS + 1u];
    for (uint32_t i = 0; i < operator_count(plan); i++) {
        const tigris_operator_t *op = &plan->operators[i];
        uint32_t own = op->kernel < sizeof tigris_params_bytes ? tigris_params_bytes[op->kernel] : 0u;
        if (own == 0u || tigris_find_kernel(plan, op->kernel) == NULL) {
            return TIGRIS_ERR_KERNEL_MISSING;
        }
        if (op->params % 4u != 0u || op->params > params_bytes || own > params_bytes - op->params ||
            op->output >= operand_count(plan) || tigris_space(&plan->operands[op->output]) == TIGRIS_SPACE_CONSTANTS) {
            return TIGRIS_ERR_FORMAT;
        }
        for (uint32_t k = 0; k < TIGRIS_MAX_INPUTS; k++) {
            if (op->input[k] != TIGRIS_ABSENT && op->input[k] >= operand_count(plan)) {
                return TIGRIS_ERR_FORMAT;
            }
        }
        const uint16_t work[2] = {op->accumulator, op->scratch};
        for (uint32_t k = 0; k < 2u; k++) {
            if (work[k] == TIGRIS_ABSENT) {
                continue;
            }
            if (work[k] >= operand_count(plan) || tigris_space(&plan->operands[work[k]]) != TIGRIS_SPACE_FAST ||
                tigris_offset(&plan->operands[work[k]]) % 4u != 0u) {
                return TIGRIS_ERR_FORMAT;
            }
        }
    }
    return TIGRIS_OK;
}

/* Whether rows [extent] of an operand lie in its memory: by their number, or in a window from place `slot` on. */
static int inside(const tigris_operand_t *operand, tigris_extent_t extent, uint32_t slot)
{
    uint32_t first = operand->window != 0u ? slot : extent.first;
    uint32_t held = tigris_held_rows(operand);
    return extent.first <= operand->rows && extent.count <= operand->rows - extent.first && first <= held &&
           extent.count <= held - first;
}

static int work_fits(const tigris_plan_t *plan, uint16_t operand, uint32_t bytes)
{
    if (bytes == 0u) {
        return 1;
    }
    return operand != TIGRIS_ABSENT &&
           (uint64_t)tigris_held_rows(&plan->operands[operand]) * plan->operands[operand].row_bytes >= bytes;
}

/* Bytes [start, stop) of a space. */
typedef struct {
    uint32_t space, start, stop;
} span_t;

/* The bytes of rows that `inside` has accepted. */
static span_t span_of(const tigris_operand_t *operand, tigris_extent_t extent, uint32_t slot)
{
    span_t span;
    span.space = tigris_space(operand);
    span.start = tigris_offset(operand) + (operand->window != 0u ? slot : extent.first) * operand->row_bytes;
    span.stop = span.start + extent.count * operand->row_bytes;
    return span;
}

/* The bytes of working memory that `work_fits` has accepted. */
static span_t work_span(const tigris_plan_t *plan, uint16_t operand, uint32_t bytes)
{
    span_t span = {0u, 0u, 0u};
    if (bytes != 0u) {
        span.space = tigris_space(&plan->operands[operand]);
        span.start = tigris_offset(&plan->operands[operand]);
        span.stop = span.start + bytes;
    }
    return span;
}

/* An empty span meets nothing. */
static int spans_meet(span_t a, span_t b)
{
    return a.space == b.space && a.start < b.stop && b.start < a.stop;
}

#define WRITTEN_SPANS 3u

/* Whether writing element i of the output spares the elements of the input behind i, for every i. */
static int trails(span_t output, span_t input, uint32_t elements)
{
    const uint64_t written = (output.stop - output.start) / elements, read = (input.stop - input.start) / elements;
    const uint64_t last = elements - 1u; /* both ends move evenly: what holds for the first and last holds between */
    return elements == 1u || (output.start + written <= input.start + read &&
                              output.start + last * written <= input.start + last * read);
}

/*
 * What a record writes is apart from all else that it touches: kernels rely on that. The first spans are written, the
 * very first is the output, which may follow an input that the kernel goes through in order.
 */
static int spans_apart(const span_t *spans, const tigris_extents_t *extents)
{
    for (uint32_t i = 0; i < WRITTEN_SPANS; i++) {
        for (uint32_t k = i + 1u; k < WRITTEN_SPANS + TIGRIS_MAX_INPUTS; k++) {
            const uint32_t in_place = i == 0u && k >= WRITTEN_SPANS ? extents->in_place >> (k - WRITTEN_SPANS) & 1u : 0u;
            if (spans_meet(spans[i], spans[k]) && !(in_place && trails(spans[i], spans[k], extents->elements))) {
                return 0;
            }
        }
    }
    return 1;
}

static tigris_status_t check_run(const tigris_plan_t *plan, const tigris_record_t *record, uint32_t row)
{
    if (record->target >= operator_count(plan) || record->rows == 0u) {
        return TIGRIS_ERR_RECORD;
    }
    const tigris_operator_t *op = &plan->operators[record->target];
    const tigris_operand_t *output = &plan->operands[op->output];
    tigris_check_t check = {0};
    tigris_extents_t extents = {0};
    check.params = plan->params + op->params;
    check.constants = plan->constants;
    check.constants_bytes = space_bytes(plan, TIGRIS_SPACE_CONSTANTS);
    for (uint32_t i = 0; i < TIGRIS_MAX_INPUTS; i++) {
        if (op->input[i] != TIGRIS_ABSENT) {
            check.inputs = i + 1u;
            check.input_row_bytes[i] = plan->operands[op->input[i]].row_bytes;
            check.input_rows[i] = plan->operands[op->input[i]].rows;
        }
    }
    check.output_row_bytes = output->row_bytes;
    check.output_rows = output->rows;
    check.row = row;
    check.rows = record->rows;
    check.channel = record->channel;
    check.channels = record->channels;
    check.flags = record->flags;

    tigris_status_t status = tigris_find_kernel(plan, op->kernel)->check(&check, &extents);
    if (status != TIGRIS_OK) {
        return status;
    }
    if (!inside(output, extents.output, record->slot[0])) {
        return TIGRIS_ERR_BOUNDS;
    }
    if (!work_fits(plan, op->accumulator, extents.accumulator_bytes) ||
        !work_fits(plan, op->scratch, extents.scratch_bytes)) {
        return TIGRIS_ERR_BOUNDS;
    }
    span_t spans[WRITTEN_SPANS + TIGRIS_MAX_INPUTS] = {{0u, 0u, 0u}};
    if ((record->flags & TIGRIS_FLAG_PART) == 0u || (record->flags & TIGRIS_FLAG_LAST) != 0u) {
        spans[0] = span_of(output, extents.output, record->slot[0]);
    }
    spans[1] = work_span(plan, op->accumulator, extents.accumulator_bytes);
    spans[2] = work_span(plan, op->scratch, extents.scratch_bytes);
    for (uint32_t i = 0; i < TIGRIS_MAX_INPUTS; i++) {
        if (extents.input[i].count == 0u) {
            continue;
        }
        if (op->input[i] == TIGRIS_ABSENT) {
            return TIGRIS_ERR_FORMAT;
        }
        const tigris_operand_t *input = &plan->operands[op->input[i]];
        if (i >= 2u && input->window != 0u) {
            return TIGRIS_ERR_RECORD; /* a record has no place for it */
        }
        const uint32_t slot = i < 2u ? record->slot[i + 1u] : 0u;
        if (!inside(input, extents.input[i], slot)) {
            return TIGRIS_ERR_BOUNDS;
        }
        spans[WRITTEN_SPANS + i] = span_of(input, extents.input[i], slot);
    }
    return spans_apart(spans, &extents) ? TIGRIS_OK : TIGRIS_ERR_OVERLAP;
}

static tigris_status_t check_shift(const tigris_plan_t *plan, const tigris_record_t *record, uint32_t row)
{
    if (record->target >= operand_count(plan)) {
        return TIGRIS_ERR_RECORD;
    }
    const tigris_operand_t *operand = &plan->operands[record->target];
    const uint32_t held = tigris_held_rows(operand);
    if (tigris_space(operand) == TIGRIS_SPACE_CONSTANTS) {
        return TIGRIS_ERR_RECORD;
    }
    return row <= held && record->rows <= held - row ? TIGRIS_OK : TIGRIS_ERR_BOUNDS;
}

static tigris_status_t check_copy(const tigris_plan_t *plan, const tigris_record_t *record, uint32_t row)
{
    if (record->target >= operand_count(plan) || record->channel >= operand_count(plan) || record->rows == 0u) {
        return TIGRIS_ERR_RECORD;
    }
    const tigris_operand_t *to = &plan->operands[record->target];
    const tigris_operand_t *from = &plan->operands[record->channel];
    const tigris_extent_t extent = {row, record->rows};
    if (to->row_bytes != from->row_bytes || tigris_space(to) == TIGRIS_SPACE_CONSTANTS) {
        return TIGRIS_ERR_RECORD;
    }
    return inside(to, extent, record->slot[0]) && inside(from, extent, record->slot[1]) ? TIGRIS_OK
                                                                                         : TIGRIS_ERR_BOUNDS;
}

/* One record as pass `pass` of its REPEAT executes it (0 outside). */
static tigris_status_t check_record(const tigris_plan_t *plan, const tigris_record_t *record, uint32_t pass)
{
    const uint32_t row = record->row + pass * record->advance;
    switch (record->kind) {
    case TIGRIS_KIND_RUN:
        return check_run(plan, record, row);
    case TIGRIS_KIND_SHIFT:
        return check_shift(plan, record, row);
    case TIGRIS_KIND_COPY:
        return check_copy(plan, record, row);
    default:
        return TIGRIS_ERR_RECORD;
    }
}

static tigris_status_t check_repeat(const tigris_plan_t *plan, uint32_t at)
{
    const tigris_record_t *repeat = &plan->records[at];
    uint32_t body = at + 1u;
    uint32_t advancing = 0;
    if (repeat->target == 0u || repeat->row == 0u || repeat->target > plan->record_count - body) {
        return TIGRIS_ERR_RECORD;
    }
    for (uint32_t i = body; i < body + repeat->target; i++) {
        advancing |= plan->records[i].advance;
    }
    if (advancing == 0u) {
        return TIGRIS_ERR_RECORD; /* would do the same again */
    }
    for (uint32_t pass = 0; pass < repeat->row; pass++) {
        for (uint32_t i = body; i < body + repeat->target; i++) {
            tigris_status_t status = check_record(plan, &plan->records[i], pass);
            if (status != TIGRIS_OK) {
                return status;
            }
        }
    }
    return TIGRIS_OK;
}

static tigris_status_t check_schedule(const tigris_plan_t *plan)
{
    uint32_t left = TIGRIS_MAX_STEPS; /* bounds the time that a load and a run may take */
    for (uint32_t at = 0; at < plan->record_count; at++) {
        const tigris_record_t *record = &plan->records[at];
        const int repeat = record->kind == TIGRIS_KIND_REPEAT;
        const uint64_t steps = repeat ? (uint64_t)record->target * record->row : 1u;
        if (steps > left) {
            return TIGRIS_ERR_RECORD;
        }
        left -= (uint32_t)steps;
        const tigris_status_t status = repeat ? check_repeat(plan, at) : check_record(plan, record, 0);
        if (status != TIGRIS_OK) {
            return status;
        }
        at += repeat ? record->target : 0u;
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_plan_load(tigris_plan_t *plan, const void *bytes, size_t size, const tigris_kernel_t *kernels,
                                 uint32_t kernel_count)
{
    static tigris_status_t (*const checks[])(const tigris_plan_t *) = {
        check_operands, check_interfaces, check_operators, check_schedule,
    };
    if (plan == NULL || bytes == NULL || (kernels == NULL && kernel_count != 0u)) {
        return TIGRIS_ERR_NULL;
    }
    const tigris_header_t *header = bytes;
    if ((uintptr_t)bytes % TIGRIS_TENSOR_ALIGN != 0u) {
        return TIGRIS_ERR_ALIGN;
    }
    if (size < sizeof *header) {
        return TIGRIS_ERR_TRUNCATED;
    }
    if (header->magic != TIGRIS_MAGIC) {
        return TIGRIS_ERR_MAGIC;
    }
    if (header->version != TIGRIS_FORMAT_VERSION) {
        return TIGRIS_ERR_VERSION;
    }
    if (header->file_bytes < sizeof *header || header->file_bytes > size) {
        return TIGRIS_ERR_TRUNCATED;
    }
    if (crc32_of(bytes, header->file_bytes, (uint32_t)offsetof(tigris_header_t, crc32)) != header->crc32) {
        return TIGRIS_ERR_CRC;
    }
    tigris_plan_t loaded = {0};
    loaded.bytes = bytes;
    loaded.header = header;
    loaded.kernels = kernels;
    loaded.kernel_count = kernel_count;
    tigris_status_t status = check_sections(&loaded);
    for (uint32_t i = 0; i < sizeof checks / sizeof checks[0] && status == TIGRIS_OK; i++) {
        status = checks[i](&loaded);
    }
    if (status == TIGRIS_OK) {
        *plan = loaded;
    }
    return status;
}
