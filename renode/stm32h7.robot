*** Settings ***
Documentation       Boards with the STM32H7: `renode-test --variable SCRIPT:... stm32h7.robot`, see selftest.resource.
Suite Setup         Setup
Suite Teardown      Teardown
Test Teardown       Test Teardown
Resource            selftest.resource

*** Test Cases ***
Self Test Of nucleo-h753zi
    Self Test Should Pass    sysbus.usart3
