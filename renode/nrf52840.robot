*** Settings ***
Documentation       Boards with the nRF52840: `renode-test --variable SCRIPT:... nrf52840.robot`, see selftest.resource.
Suite Setup         Setup
Suite Teardown      Teardown
Test Teardown       Test Teardown
Resource            selftest.resource

*** Test Cases ***
Self Test Of nrf52840dk
    Self Test Should Pass    sysbus.uart0
