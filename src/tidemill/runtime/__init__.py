"""Apps: a topology started against Kafka, watched, stopped, restarted where it was."""

from __future__ import annotations

from tidemill.runtime.app import App
from tidemill.runtime.config import AppConfig, Guarantee, Latency
from tidemill.runtime.state import State
from tidemill.runtime.supervision import Reaction

__all__ = ["App", "AppConfig", "Guarantee", "Latency", "Reaction", "State"]
