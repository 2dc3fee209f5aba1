"""A processor tested by itself, without a topology."""

from __future__ import annotations

import pytest

from tidemill import serdes
from tidemill.dsl import Processor, ProcessorContext, Punctuation, Record, ValueAndTimestamp, state_store
from tidemill.errors import UsageError
from tidemill.testing import MockProcessorContext

_LAST = state_store("last", key=serdes.string, value=serdes.long, timestamped=True)


class Changes(Processor):
    """Forwards a value that differs from its key's last one; every second says how many there are."""

    stores = (_LAST,)

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self._last = context.state_store("last")
        self._beat = context.schedule("1 second", Punctuation.WALL_CLOCK_TIME, self._count)

    def process(self, record: Record) -> None:
        known = self._last.get(record.key)
        if known is None or known.value != record.value:
            self._last.put(record.key, ValueAndTimestamp(record.value, record.timestamp, record.headers))
            self.context.forward(record, "changes" if known else None)
        if record.value < 0:
            self.context.commit()
            self._beat.cancel()

    def _count(self, time: int) -> None:
        self.context.forward(Record("count", self._last.approximate_num_entries(), time))


def test_what_a_processor_does_is_captured() -> None:
    context = MockProcessorContext(_LAST, config={"limit": 3}, application_id="shop")
    changes = Changes()
    changes.init(context)
    headers = (("trace", b"7"),)
    for key, value, time in [("a", 1, 10), ("a", 1, 11), ("b", 2, 12), ("a", 3, 13)]:
        changes.process(Record(key, value, time, headers))
    assert [(each.record.value, each.child) for each in context.forwarded()] == [
        (1, None),
        (2, None),
        (3, "changes"),
    ]
    assert [each.record.value for each in context.forwarded("other")] == [1, 2]
    assert context.state_store("last").get("a") == ValueAndTimestamp(3, 13, headers)
    (beat,) = context.scheduled_punctuators
    assert (beat.interval, beat.punctuation) == (1000, Punctuation.WALL_CLOCK_TIME)
    context.reset_forwards()
    beat.fire(1000)
    assert [each.record for each in context.forwarded()] == [Record("count", 2, 1000)]
    assert not context.committed
    changes.process(Record("a", -1, 14))
    assert (context.committed, beat.cancelled) == (True, True)
    beat.fire(2000)
    assert len(context.forwarded()) == 2
    assert (context.app_configs(), context.application_id) == ({"limit": 3}, "shop")
    with pytest.raises(UsageError, match="no store `other`"):
        context.state_store("other")
    context.set_record_metadata("in", 2, 5)
    context.set_current_stream_time_ms(14)
    context.set_current_system_time_ms(99)
    metadata = context.record_metadata()
    assert metadata is not None
    assert (metadata.partition, context.current_stream_time_ms(), context.current_system_time_ms()) == (
        2,
        14,
        99,
    )
