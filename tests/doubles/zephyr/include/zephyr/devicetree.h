/*
 * The devicetree macros that arenas.ld uses. Zephyr generates what is behind them; here a test defines it, in the same
 * names: DT_CHOSEN_<property> is a node, <node>_COMPAT_MATCHES_<compatible> is 1, <node>_ORD numbers it.
 */
#ifndef DOUBLE_ZEPHYR_DEVICETREE_H
#define DOUBLE_ZEPHYR_DEVICETREE_H

#define DOUBLE_CAT(a, b) DOUBLE_CAT_EXPANDED(a, b)
#define DOUBLE_CAT_EXPANDED(a, b) a##b

#define DT_CHOSEN(property) DOUBLE_CAT(DT_CHOSEN_, property)
#define DT_NODE_HAS_COMPAT(node, compatible) DOUBLE_CAT(node, _COMPAT_MATCHES_##compatible)
#define DT_DEP_ORD(node) DOUBLE_CAT(node, _ORD)
#define DT_SAME_NODE(one, other) (DT_DEP_ORD(one) == DT_DEP_ORD(other))
#define DT_STRING_TOKEN(node, property) DOUBLE_CAT(node, _P_##property##_STRING_TOKEN)

#endif
