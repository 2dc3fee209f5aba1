"""Task numbers that Spark's hash partitioning spreads evenly over its partitions."""

from __future__ import annotations

from functools import cache

_SPARK_SEED = 42


@cache
def task_ids(tasks: int, partitions: int) -> tuple[int, ...]:
    """A number for each of `tasks` such that task n goes to shuffle partition n modulo `partitions`.

    Spark places a group by the Murmur3 hash of its key: the plain numbers 0, 1, 2, ... would crowd some
    partitions and leave others empty.

    >>> task_ids(4, 4)
    (12, 6, 2, 0)
    >>> [spark_partition(number, 4) for number in task_ids(4, 4)]
    [0, 1, 2, 3]
    """
    ids: list[int] = []
    waiting: dict[int, list[int]] = {}
    candidate = 0
    for task in range(tasks):
        wanted = task % partitions
        while not waiting.get(wanted):
            waiting.setdefault(spark_partition(candidate, partitions), []).append(candidate)
            candidate += 1
        ids.append(waiting[wanted].pop(0))
    return tuple(ids)


def spark_partition(number: int, partitions: int) -> int:
    """The shuffle partition of an int key: the positive modulus of its hash."""
    return _murmur3(number) % partitions


def _murmur3(number: int) -> int:
    """Spark's Murmur3Hash of an int, as a signed 32-bit number."""
    mixed = (number * 0xCC9E2D51) & 0xFFFFFFFF
    mixed = (_rotated(mixed, 15) * 0x1B873593) & 0xFFFFFFFF
    value = _rotated(_SPARK_SEED ^ mixed, 13)
    value = (value * 5 + 0xE6546B64) & 0xFFFFFFFF
    value ^= 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        value = ((value ^ (value >> shift)) * factor) & 0xFFFFFFFF
    value ^= value >> 16
    return value - (1 << 32) if value >= 1 << 31 else value


def _rotated(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & 0xFFFFFFFF
