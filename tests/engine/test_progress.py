"""Reports of finished batches: each is told once, whenever it comes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import SimpleNamespace

from tidemill.engine.query import RunningQuery


@dataclass
class Report:
    number: int

    def batchId(self) -> int:
        return self.number

    def json(self) -> str:
        return json.dumps({"batchId": self.number})


@dataclass
class Query:
    """Ends a batch between any two questions."""

    done: list[Report] = field(default_factory=list)

    def lastProgress(self) -> Report | None:
        self.done.append(Report(len(self.done)))
        return self.done[-1]

    def recentProgress(self) -> list[Report]:
        self.done.append(Report(len(self.done)))
        return list(self.done)


def test_batch_that_ends_while_it_is_asked_is_told_once() -> None:
    query = RunningQuery(SimpleNamespace(), Query(), None, SimpleNamespace(), SimpleNamespace())
    told = [report["batchId"] for _ in range(4) for report in query.new_progress()]
    assert told == list(range(len(told)))
    assert len(told) == 8
