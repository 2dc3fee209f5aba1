"""How each family of nodes is lowered to kernel nodes; importing this registers all of them."""

from tidemill.engine.operators import aggregate, join, sink, source, stateless, table, window

__all__ = ["aggregate", "join", "sink", "source", "stateless", "table", "window"]
