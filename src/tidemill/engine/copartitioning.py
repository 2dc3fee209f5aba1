"""What an app assumes of topics whose records meet."""

from __future__ import annotations

from enum import StrEnum


class CoPartitioning(StrEnum):
    """What is assumed of topics whose records meet."""

    CHECKED = "checked"
    """Keys are where Kafka's own partitioner puts them, and each is looked at."""
    TRUSTED = "trusted"
    """Equal keys are in partitions of equal numbers, whoever chose them."""
    SHUFFLE = "shuffle"
    """Nothing: records are brought together by key."""
