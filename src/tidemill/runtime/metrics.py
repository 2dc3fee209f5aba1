"""What an app measures about itself, gathered from Spark's reports on batches."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemill.engine.handlers import KINDS, Outcome
from tidemill.runtime.checkpoint import Offsets, merge_lowest

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Upper ends of the histograms' buckets, in seconds."""


@dataclass(slots=True)
class Histogram:
    """How often something took how long."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[next((n for n, end in enumerate(BUCKETS) if seconds <= end), len(BUCKETS))] += 1
        self.total += seconds

    def figures(self) -> dict[str, Any]:
        """Cumulative counts, as Prometheus has them."""
        running, buckets = 0, []
        for end, count in zip((*BUCKETS, None), self.counts, strict=True):
            running += count
            buckets.append([end, running])
        return {"buckets": buckets, "count": running, "sum": round(self.total, 6)}


class Metrics:
    """Counters since the start of the app and the last batch's figures."""

    def __init__(self, stores: Mapping[int, list[str]] | None = None, *, depth: int = 0) -> None:
        self._lock = threading.Lock()
        self._stores = stores or {}
        self._depth = depth
        self._batches = 0
        self._records_in = 0
        self._records_out = 0
        self._restarts: dict[str, int] = {}
        self._dropped: dict[str, int] = {}
        self._durations: dict[str, Histogram] = {}
        self._read: dict[str, dict[str, int]] = {}
        self._sent: dict[str, dict[str, int]] = {}
        self._seen: dict[str, dict[str, dict[str, int]]] = {}
        self._position: Offsets = {}
        self._ends: Offsets = {}
        self._last: Mapping[str, Any] = {}
        self._handled: dict[str, list[dict[str, Any]]] = {}
        self._recent: deque[tuple[float, float, int, int]] = deque(maxlen=1000)
        self._progress_at: float | None = None

    @property
    def position(self) -> Offsets:
        """How far finished batches have come."""
        with self._lock:
            return dict(self._position)

    def began(self, position: Offsets | None = None) -> None:
        """A query begins: its own counters start at zero, and it goes on at these offsets."""
        with self._lock:
            self._seen.clear()
            self._position.update(position or {})

    def finished(self, reports: Iterable[Mapping[str, Any]]) -> None:
        """Count finished batches."""
        with self._lock:
            for report in reports:
                read = max(0, report.get("numInputRows", 0))
                written = max(0, report.get("sink", {}).get("numOutputRows", 0))
                took = report.get("durationMs", {}).get("triggerExecution", 0) / 1000
                self._batches += 1
                self._records_in += read
                self._records_out += written
                self._last = report
                self._progress_at = time.time()
                self._recent.append((self._progress_at, took, read, written))
                self._time(report.get("durationMs", {}))
                self._offsets(report)
                self._topics(report)

    def ends(self, ends: Offsets) -> None:
        """Take note of how much there is to read, asked from Kafka."""
        with self._lock:
            self._ends.update(ends)

    def handled(self, query: str, counts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Note what a query has left out or set aside since its start; returns what is new."""
        with self._lock:
            before = {_reason(entry): entry["count"] for entry in self._handled.get(query, ())}
            self._handled[query] = counts
            return [entry for entry in counts if entry["count"] > before.get(_reason(entry), 0)]

    def restarted(self, cause: str) -> None:
        """Count a restart of the query by the code of its error."""
        with self._lock:
            self._restarts[cause] = self._restarts.get(cause, 0) + 1

    def ended(self, dropped: Mapping[str, int]) -> None:
        """A query has ended: keep what it counted itself."""
        with self._lock:
            for reason, count in dropped.items():
                self._dropped[reason] = self._dropped.get(reason, 0) + count

    def snapshot(self, dropped: Mapping[str, int] | None = None) -> dict[str, Any]:
        """All figures by name; `dropped` is what the running query has counted itself."""
        with self._lock:
            last, now = self._last, time.time()
            state = self._state(last)
            lag = {part: max(0, end - self._position.get(part, end)) for part, end in self._ends.items()}
            newest = max((read["latest"] for read in self._read.values()), default=None)
            return {
                "batches": self._batches,
                "records_in": self._records_in,
                "records_out": self._records_out,
                "bytes_in": sum(read["bytes"] for read in self._read.values()),
                "bytes_out": sum(sent["bytes"] for sent in self._sent.values()),
                "restarts": sum(self._restarts.values()),
                "restarts_by_cause": dict(self._restarts),
                "last_batch_id": last.get("batchId"),
                "last_batch_ms": last.get("durationMs", {}).get("triggerExecution"),
                "last_batch_parts_ms": dict(last.get("durationMs", {})),
                "last_progress": self._progress_at,
                "rate_in": self._rate(now, 2),
                "rate_out": self._rate(now, 3),
                "records_in_per_second": last.get("inputRowsPerSecond", 0.0),
                "records_done_per_second": last.get("processedRowsPerSecond", 0.0),
                "batch_limit": _limit(last),
                "batch_seconds": {phase: times.figures() for phase, times in self._durations.items()},
                "lag": sum(lag.values()),
                "partitions": [
                    {
                        "topic": topic,
                        "partition": partition,
                        "position": self._position.get((topic, partition)),
                        "end": self._ends[topic, partition],
                        "lag": behind,
                    }
                    for (topic, partition), behind in sorted(lag.items())
                ],
                "topics_in": {
                    topic: {**counts, "delay_seconds": _age(now, counts["latest"])}
                    for topic, counts in sorted(self._read.items())
                },
                "topics_out": {topic: dict(counts) for topic, counts in sorted(self._sent.items())},
                "stream_time_delay_seconds": None if newest is None else _age(now, newest),
                "state_operators": state,
                "state_rows": sum(operator["rows"] for operator in state),
                "state_bytes": sum(operator["bytes"] for operator in state),
                "dropped": _sum(self._dropped, dropped or {}),
                **self._errors(),
            }

    def _errors(self) -> dict[str, Any]:
        """Records that could not be read, processed or written: sums by kind, and all reasons."""
        sums: dict[tuple[str, ...], int] = {}
        for counts in self._handled.values():
            for entry in counts:
                sums[_reason(entry)] = sums.get(_reason(entry), 0) + entry["count"]
        by_outcome: dict[str, dict[str, int]] = {
            outcome: dict.fromkeys(KINDS, 0) for outcome in (Outcome.DEAD_LETTER, Outcome.CONTINUE)
        }
        for (kind, outcome, _, _), count in sums.items():
            by_outcome[outcome][kind] += count
        reasons = [dict(zip(_REASON, reason, strict=True), count=count) for reason, count in sums.items()]
        return {
            "dead_letters": by_outcome[Outcome.DEAD_LETTER],
            "skipped": by_outcome[Outcome.CONTINUE],
            "errors": reasons,
        }

    def _rate(self, now: float, column: int) -> float:
        """Records a second of late: over ten seconds, or over two batches where these are longer."""
        if not self._recent:
            return 0.0
        window = max(10.0, 2 * self._recent[-1][1])
        batches = [batch for batch in self._recent if batch[0] > now - window]
        if not batches:
            return 0.0
        seconds = max(0.1, min(window, now - (self._recent[0][0] - self._recent[0][1])))
        return round(sum(int(batch[column]) for batch in batches) / seconds, 1)

    def _time(self, parts: Mapping[str, int]) -> None:
        for name, millis in parts.items():
            self._durations.setdefault(_PHASES.get(name, name), Histogram()).add(millis / 1000)

    def _offsets(self, report: Mapping[str, Any]) -> None:
        reached: Offsets = {}
        for source in report.get("sources", ()):
            if isinstance(source.get("endOffset"), Mapping):
                merge_lowest(reached, source["endOffset"])
            if isinstance(source.get("latestOffset"), Mapping):
                for topic, partitions in source["latestOffset"].items():
                    for partition, end in partitions.items():
                        self._ends[topic, int(partition)] = end
        self._position.update(reached)
        for part, offset in reached.items():
            # What was read was there, even if nobody looked at the end since.
            self._ends[part] = max(self._ends.get(part, 0), offset)

    def _topics(self, report: Mapping[str, Any]) -> None:
        for number, source in enumerate(report.get("sources", ())):
            told = _parsed((source.get("metrics") or {}).get("read"))
            for topic, more in self._since(f"source-{number}", told).items():
                counts = self._read.setdefault(topic, {"records": 0, "bytes": 0, "latest": 0})
                counts["records"] += more["records"]
                counts["bytes"] += more["bytes"]
                counts["latest"] = max(counts["latest"], told[topic]["latest"])
        told = _parsed((report.get("sink", {}).get("metrics") or {}).get("sent"))
        for topic, more in self._since("sink", told).items():
            empty = {"records": 0, "bytes": 0, "age_ms_sum": 0, "age_ms_min": 0, "age_ms_max": 0}
            counts = self._sent.setdefault(topic, empty)
            counts["records"] += more["records"]
            counts["bytes"] += more["bytes"]
            counts["age_ms_sum"] += more["ages"]
            if more["records"]:
                counts["age_ms_min"] = told[topic]["youngest"]
                counts["age_ms_max"] = told[topic]["oldest"]

    def _since(self, who: str, told: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
        """What counters of the kernel, which begin with the query, have grown by since the report before."""
        before = self._seen.get(who, {})
        self._seen[who] = told
        return {
            topic: {
                name: value - before.get(topic, {}).get(name, 0)
                for name, value in counts.items()
                if isinstance(value, int)
            }
            for topic, counts in told.items()
        }

    def _state(self, report: Mapping[str, Any]) -> list[dict[str, Any]]:
        operators = report.get("stateOperators", ())
        # Spark tells of the last operator first. A first level that keeps nothing is none.
        first = max(0, self._depth - len(operators))
        return [
            {
                "level": level,
                "stores": self._stores.get(level, []),
                "rows": operator.get("numRowsTotal", 0),
                "bytes": operator.get("memoryUsedBytes", 0),
                "updated": operator.get("numRowsUpdated", 0),
                "removed": operator.get("numRowsRemoved", 0),
                "commit_ms": operator.get("commitTimeMs", 0),
                "disk_bytes": operator.get("customMetrics", {}).get("rocksdbSstFileSize", 0),
                "rocksdb": _rocksdb(operator.get("customMetrics", {})),
            }
            for level, operator in enumerate(reversed(operators), first)
        ]


_REASON = ("kind", "outcome", "node", "error")


def _reason(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(entry[name] for name in _REASON)


_PHASES = {
    "triggerExecution": "total",
    "latestOffset": "offsets",
    "getBatch": "get",
    "queryPlanning": "planning",
    "walCommit": "log",
    "addBatch": "process",
    "commitOffsets": "commit",
}
"""Parts of a batch: Spark's words for them, and ours."""


def _rocksdb(custom: Mapping[str, int]) -> dict[str, int]:
    """RocksDB's own figures, under names in Prometheus' style."""
    return {
        re.sub(r"(?<!^)(?=[A-Z])", "_", name.removeprefix("rocksdb")).lower(): value
        for name, value in custom.items()
        if name.startswith("rocksdb")
    }


def _age(now: float, millis: int) -> float:
    return round(max(0.0, now - millis / 1000), 3)


def _limit(report: Mapping[str, Any]) -> int | None:
    found = [(source.get("metrics") or {}).get("batchLimit") for source in report.get("sources", ())]
    limits = [int(limit) for limit in found if limit is not None]
    return sum(limits) if limits else None


def _parsed(text: str | None) -> dict[str, dict[str, int]]:
    return json.loads(text) if text else {}


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {
        name: one.get(name, 0) + other.get(name, 0) for name in (*one, *(n for n in other if n not in one))
    }
