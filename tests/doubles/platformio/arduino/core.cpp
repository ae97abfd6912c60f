/* Arduino on an emulated Cortex-M: start-up, a console without a UART's driver, SysTick as the clock. */
#include "Arduino.h"

#define SYSTICK_CONTROL (*reinterpret_cast<volatile uint32_t *>(0xE000E010u))
#define SYSTICK_RELOAD (*reinterpret_cast<volatile uint32_t *>(0xE000E014u))
#define SYSTICK_VALUE (*reinterpret_cast<volatile uint32_t *>(0xE000E018u))
#define CPACR (*reinterpret_cast<volatile uint32_t *>(0xE000ED88u))
#define SYSTICK_ON 7u
#define SYSTICK_BITS 24
#define SYSTICK_MASK 0xFFFFFFu
#define SYS_EXIT_EXTENDED 0x20u
#define APPLICATION_EXIT 0x20026u

extern "C" {
extern uint32_t double_stack_top[];
extern uint32_t double_data_load[];
extern uint32_t double_data_start[];
extern uint32_t double_data_end[];
extern uint32_t double_bss_start[];
extern uint32_t double_bss_end[];
typedef void (*function_t)();
extern function_t double_init_start[];
extern function_t double_init_end[];

void Reset_Handler();
void Fault_Handler();
void SysTick_Handler();

extern const void *const vectors[16];
}

static volatile uint32_t wraps;

DoubleSerial Serial;

void DoubleSerial::begin(unsigned long)
{
}

DoubleSerial::operator bool() const
{
    return true;
}

size_t DoubleSerial::write(uint8_t byte)
{
    *reinterpret_cast<volatile uint32_t *>(DOUBLE_CONSOLE) = byte;
    return 1u;
}

size_t DoubleSerial::write(unsigned int byte)
{
    return write(static_cast<uint8_t>(byte));
}

size_t DoubleSerial::write(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0u; i < count; i++) {
        (void)write(bytes[i]);
    }
    return count;
}

void DoubleSerial::flush()
{
}

/* As many as SysTick has ticks. */
unsigned long micros()
{
    if (SYSTICK_CONTROL == 0u) {
        SYSTICK_RELOAD = SYSTICK_MASK;
        SYSTICK_VALUE = 0u;
        SYSTICK_CONTROL = SYSTICK_ON;
    }
    return (wraps << SYSTICK_BITS) + (-SYSTICK_VALUE & SYSTICK_MASK);
}

unsigned long millis()
{
    return micros() / 1000u;
}

void delay(unsigned long milliseconds)
{
    const unsigned long start = millis();

    while (millis() - start < milliseconds) {
    }
}

extern "C" void SysTick_Handler()
{
    wraps = wraps + 1u;
}

extern "C" void Fault_Handler()
{
    for (;;) {
    }
}

static void end_program()
{
    static const uint32_t block[2] = {APPLICATION_EXIT, 0u};
    register uint32_t operation __asm__("r0") = SYS_EXIT_EXTENDED;
    register const uint32_t *argument __asm__("r1") = block;

    __asm__ volatile("bkpt 0xAB" : : "r"(operation), "r"(argument) : "memory");
}

extern "C" void Reset_Handler()
{
    const uint32_t *load = double_data_load;

    for (uint32_t *word = double_data_start; word != double_data_end; word++) {
        *word = *load++;
    }
    for (uint32_t *word = double_bss_start; word != double_bss_end; word++) {
        *word = 0u;
    }
#ifdef __ARM_FP
    CPACR = 0x00F00000u;
    __asm__ volatile("dsb\n\tisb" : : : "memory");
#endif
    for (function_t *init = double_init_start; init != double_init_end; init++) {
        (*init)();
    }
    setup();
    end_program();
    for (;;) {
    }
}

extern "C" __attribute__((section(".vectors"), used)) const void *const vectors[16] = {
    double_stack_top,
    reinterpret_cast<const void *>(Reset_Handler),
    reinterpret_cast<const void *>(Fault_Handler),
    reinterpret_cast<const void *>(Fault_Handler),
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    reinterpret_cast<const void *>(SysTick_Handler),
};
