# The application is a component of ESP-IDF. This file is yours: it is written once and never again.
idf_component_register(SRC_DIRS . INCLUDE_DIRS .)
