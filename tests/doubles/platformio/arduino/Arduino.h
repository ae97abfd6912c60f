/* The few functions of Arduino that generated projects call. */
#ifndef DOUBLE_ARDUINO_H
#define DOUBLE_ARDUINO_H

#include <stddef.h>
#include <stdint.h>

void setup();
void loop();
unsigned long millis();
unsigned long micros();
void delay(unsigned long milliseconds);

class DoubleSerial {
public:
    void begin(unsigned long baud);
    explicit operator bool() const;
    size_t write(uint8_t byte);
    size_t write(unsigned int byte);
    size_t write(const uint8_t *bytes, size_t count);
    void flush();
};

extern DoubleSerial Serial;

#endif
