"""What an app measures about itself, gathered from Spark's reports on batches."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from tidemill.engine.handlers import KINDS, Outcome


class Metrics:
    """Counters since the start of the app and the last batch's figures."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._batches = 0
        self._records_in = 0
        self._records_out = 0
        self._restarts = 0
        self._last: Mapping[str, Any] = {}
        self._handled: dict[str, list[dict[str, Any]]] = {}

    def finished(self, reports: Iterable[Mapping[str, Any]]) -> None:
        """Count finished batches."""
        with self._lock:
            for report in reports:
                self._batches += 1
                self._records_in += max(0, report.get("numInputRows", 0))
                self._records_out += max(0, report.get("sink", {}).get("numOutputRows", 0))
                self._last = report

    def restarted(self) -> None:
        """Count a restart of the query."""
        with self._lock:
            self._restarts += 1

    def handled(self, query: str, counts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Note what a query has left out or set aside since its start; returns what is new."""
        with self._lock:
            before = {_reason(entry): entry["count"] for entry in self._handled.get(query, ())}
            self._handled[query] = counts
            return [entry for entry in counts if entry["count"] > before.get(_reason(entry), 0)]

    def snapshot(self) -> dict[str, Any]:
        """All figures by name."""
        with self._lock:
            last = self._last
            state = last.get("stateOperators", ())
            return {
                "batches": self._batches,
                "records_in": self._records_in,
                "records_out": self._records_out,
                "restarts": self._restarts,
                "last_batch_id": last.get("batchId"),
                "last_batch_ms": last.get("durationMs", {}).get("triggerExecution"),
                "last_batch_parts_ms": dict(last.get("durationMs", {})),
                "records_in_per_second": last.get("inputRowsPerSecond", 0.0),
                "records_done_per_second": last.get("processedRowsPerSecond", 0.0),
                "lag": _lag(last),
                "state_rows": sum(operator.get("numRowsTotal", 0) for operator in state),
                "state_bytes": sum(operator.get("memoryUsedBytes", 0) for operator in state),
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


_REASON = ("kind", "outcome", "node", "error")


def _reason(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(entry[name] for name in _REASON)


def _lag(report: Mapping[str, Any]) -> int:
    """Offsets between what was read and what there was to read when the batch began."""
    lag = 0
    for source in report.get("sources", ()):
        ends, latest = source.get("endOffset"), source.get("latestOffset")
        if isinstance(ends, Mapping) and isinstance(latest, Mapping):
            for topic, partitions in latest.items():
                for partition, offset in partitions.items():
                    lag += max(0, offset - ends.get(topic, {}).get(partition, 0))
    return lag
