"""Processors of the vocabulary as Kafka Streams' own, each with a store in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jpype

from oracle.callbacks import Errors
from oracle.codec import codec, key_to_python
from oracle.jvm import java_class, millis, streams
from oracle.processors import Processor
from oracle.spec import STRING

_CLOCKS = {"stream": "STREAM_TIME", "wall": "WALL_CLOCK_TIME"}


def supplier(make: Callable[[], Processor], store: str, value: Any, errors: Errors) -> Any:
    """A ProcessorSupplier that brings the store along; `value` is the codec of the records that come in."""
    stores = streams("state.Stores")
    builder = stores.keyValueStoreBuilder(
        stores.inMemoryKeyValueStore(store), codec(STRING).serde, codec(make().state).serde
    )
    methods = {
        "get": lambda: _processor(make(), store, value, errors),
        "stores": lambda: java_class("java.util.Collections").singleton(builder),
    }
    return jpype.JProxy(streams("processor.api.ProcessorSupplier"), dict=methods)


def _processor(processor: Processor, store: str, value: Any, errors: Errors) -> Any:
    context: list[_Context] = []

    def init(java_context: Any) -> None:
        context.append(_Context(java_context, processor, store))
        if processor.clock is not None:
            punctuator = errors.kept(lambda ts: processor.punctuate(context[0].at(None), int(ts)))
            java_context.schedule(
                millis(processor.interval),
                getattr(streams("processor.PunctuationType"), _CLOCKS[processor.clock]),
                streams("processor.Punctuator") @ punctuator,
            )

    def process(record: Any) -> None:
        key, ts = key_to_python(record.key()), int(record.timestamp())
        processor.process(context[0].at(record), key, value.to_python(record.value()), ts)

    methods = {"init": errors.kept(init), "process": errors.kept(process), "close": lambda: None}
    return jpype.JProxy(streams("processor.api.Processor"), dict=methods)


class _Context:
    """The context of a processor, at one record or at a tick of its clock."""

    def __init__(self, context: Any, processor: Processor, store: str) -> None:
        self._context = context
        self._store = context.getStateStore(store)
        self._state = codec(processor.state)
        self._result = codec(processor.result)
        self._key = codec(STRING)
        self._record: Any = None

    def at(self, record: Any) -> _Context:
        self._record = record
        return self

    def get(self, key: str) -> Any:
        return self._state.to_python(self._store.get(self._key.to_java(key)))

    def put(self, key: str, value: Any) -> None:
        self._store.put(self._key.to_java(key), self._state.to_java(value))

    def items(self) -> list[tuple[str, Any]]:
        rows = self._store.all()
        try:
            return [(key_to_python(row.key), self._state.to_python(row.value)) for row in rows]
        finally:
            rows.close()

    def forward(self, key: str | None, value: Any, ts: int) -> None:
        new_key, new_value = self._key.to_java(key), self._result.to_java(value)
        if self._record is None:
            record = streams("processor.api.Record")(new_key, new_value, ts)
        else:
            record = self._record.withKey(new_key).withValue(new_value).withTimestamp(ts)
        self._context.forward(record)
