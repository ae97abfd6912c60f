/* The build's configuration, in which unset options are undefined, as in ESP-IDF's: options come from the command line. */
#ifndef SDKCONFIG_H
#define SDKCONFIG_H

#ifndef CONFIG_TIGRIS_YIELD_MS
#define CONFIG_TIGRIS_YIELD_MS 1000
#endif

#endif
