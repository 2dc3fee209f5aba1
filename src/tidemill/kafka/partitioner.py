"""Kafka's own choice of a partition, as Java's clients make it."""

from __future__ import annotations

_SEED = 0x9747B28C
_FACTOR = 0x5BD1E995
_MASK = 0xFFFFFFFF


def partition_of(key: bytes, partitions: int) -> int:
    """The partition of a key among so many.

    >>> [partition_of(name, 4) for name in (b"ann", b"bob", b"")]
    [2, 2, 1]
    """
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """The hash of bytes, as an unsigned number of 32 bits."""
    value = _SEED ^ len(data)
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        part = (int.from_bytes(data[start : start + 4], "little") * _FACTOR) & _MASK
        part = ((part ^ (part >> 24)) * _FACTOR) & _MASK
        value = ((value * _FACTOR) & _MASK) ^ part
    if rest := data[whole:]:
        value = ((value ^ int.from_bytes(rest, "little")) * _FACTOR) & _MASK
    value = ((value ^ (value >> 13)) * _FACTOR) & _MASK
    return value ^ (value >> 15)
