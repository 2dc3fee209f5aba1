"""Apps and records as the tests of the runtime have them."""

from runtime.conftest import broker, make_app

__all__ = ["broker", "make_app"]
