"""Serdes: how keys and values become bytes. Declarations only; the engine lowers them."""
