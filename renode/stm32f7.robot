*** Settings ***
Documentation       Boards with the STM32F7: `renode-test --variable SCRIPT:... stm32f7.robot`, see selftest.resource.
Suite Setup         Setup
Suite Teardown      Teardown
Test Teardown       Test Teardown
Resource            selftest.resource

*** Test Cases ***
Self Test Of stm32f7-discovery
    Self Test Should Pass    sysbus.usart1
