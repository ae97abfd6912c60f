/* Names of the linker's memory regions, see README.md beside `include`. */
#define LINKER_DT_NODE_REGION_NAME_TOKEN(node) DT_STRING_TOKEN(node, zephyr_memory_region)
