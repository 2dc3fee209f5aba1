"""Processors of the vocabulary as Tidemill's own, each with a store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oracle.processors import Processor as SharedProcessor
from tidemill import serdes
from tidemill.dsl import Processor, ProcessorContext, Punctuation, Record, state_store
from tidemill.serde.base import Serde

_CLOCKS = {"stream": Punctuation.STREAM_TIME, "wall": Punctuation.WALL_CLOCK_TIME}


def adapted(make: Callable[[], SharedProcessor], store: str, state: Serde) -> type[Processor]:
    """A processor of the vocabulary as one of Tidemill's."""

    class Adapted(Processor):
        stores = (state_store(store, key=serdes.string, value=state),)

        def init(self, context: ProcessorContext) -> None:
            super().init(context)
            self._shared = make()
            self._record: Record | None = None
            self._rows = context.state_store(store)
            if self._shared.clock is not None:
                clock = _CLOCKS[self._shared.clock]
                context.schedule(self._shared.interval, clock, self._punctuate)

        def process(self, record: Record) -> None:
            self._record = record
            self._shared.process(self, record.key, record.value, record.timestamp)

        def _punctuate(self, ts: int) -> None:
            self._record = None
            self._shared.punctuate(self, ts)

        def get(self, key: str) -> Any:
            return self._rows.get(key)

        def put(self, key: str, value: Any) -> None:
            self._rows.put(key, value)

        def items(self) -> list[tuple[str, Any]]:
            return list(self._rows.all())

        def forward(self, key: str | None, value: Any, ts: int) -> None:
            headers = () if self._record is None else self._record.headers
            self.context.forward(Record(key, value, ts, headers))

    return Adapted
