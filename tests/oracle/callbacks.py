"""Functions of the vocabulary as Kafka Streams' functional interfaces.

The DSL is overloaded, so every function is cast to its interface. An exception thrown by one of ours reaches
the caller as an empty StreamsException; `Errors` keeps it, so that a mistake in the harness shows itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oracle.codec import Codec, key_to_python
from oracle.functions import Fold, Function, TableFold
from oracle.jvm import dsl, java_class, streams


class Errors:
    """The exceptions raised by Python functions inside Java."""

    def __init__(self) -> None:
        self.raised: list[Exception] = []

    def kept(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except Exception as error:
                self.raised.append(error)
                raise

        return call


class Callbacks:
    """Casts functions to the interfaces of the DSL, with the codecs of what they take and give."""

    def __init__(self, errors: Errors) -> None:
        self._errors = errors

    def _cast(self, interface: Any, function: Callable[..., Any]) -> Any:
        return interface @ self._errors.kept(function)

    def predicate(self, function: Function, value: Codec) -> Any:
        return self._cast(
            dsl("Predicate"), lambda k, v: bool(function.python(key_to_python(k), value.to_python(v)))
        )

    def mapper(self, function: Function, value: Codec, result: Codec) -> Any:
        if function.with_key:
            return self._cast(
                dsl("ValueMapperWithKey"),
                lambda k, v: result.to_java(function.python(key_to_python(k), value.to_python(v))),
            )
        return self._cast(dsl("ValueMapper"), lambda v: result.to_java(function.python(value.to_python(v))))

    def expander(self, function: Function, value: Codec, result: Codec) -> Any:
        def expand(v: Any) -> Any:
            values = java_class("java.util.ArrayList")()
            for one in function.python(value.to_python(v)):
                values.add(result.to_java(one))
            return values

        return self._cast(dsl("ValueMapper"), expand)

    def selector(self, function: Function, value: Codec, key: Codec) -> Any:
        return self._cast(
            dsl("KeyValueMapper"),
            lambda k, v: key.to_java(function.python(key_to_python(k), value.to_python(v))),
        )

    def pairing(self, function: Function, value: Codec, key: Codec, result: Codec) -> Any:
        def pair(k: Any, v: Any) -> Any:
            new_key, new_value = function.python(key_to_python(k), value.to_python(v))
            return streams("KeyValue")(key.to_java(new_key), result.to_java(new_value))

        return self._cast(dsl("KeyValueMapper"), pair)

    def extractor(self, function: Function, value: Codec, key: Codec) -> Any:
        return self._cast(
            java_class("java.util.function.Function"),
            lambda v: key.to_java(function.python(None, value.to_python(v))),
        )

    def initializer(self, fold: Fold | TableFold, result: Codec) -> Any:
        return self._cast(dsl("Initializer"), lambda: result.to_java(fold.initial))

    def aggregator(self, function: Function, value: Codec, result: Codec) -> Any:
        return self._cast(
            dsl("Aggregator"),
            lambda k, v, agg: result.to_java(
                function.python(key_to_python(k), value.to_python(v), result.to_python(agg))
            ),
        )

    def merger(self, function: Function, result: Codec) -> Any:
        return self._cast(
            dsl("Merger"),
            lambda k, a, b: result.to_java(
                function.python(key_to_python(k), result.to_python(a), result.to_python(b))
            ),
        )

    def reducer(self, function: Function, value: Codec) -> Any:
        return self._cast(
            dsl("Reducer"),
            lambda a, b: value.to_java(function.python(value.to_python(a), value.to_python(b))),
        )

    def table_reducer(self, function: Function, value: Codec) -> Any:
        return self._cast(
            dsl("Reducer"),
            lambda a, b: value.to_java(function.python(None, value.to_python(b), value.to_python(a))),
        )

    def joiner(self, function: Function, left: Codec, right: Codec, result: Codec) -> Any:
        if function.with_key:
            return self._cast(
                dsl("ValueJoinerWithKey"),
                lambda k, a, b: result.to_java(
                    function.python(key_to_python(k), left.to_python(a), right.to_python(b))
                ),
            )
        return self._cast(
            dsl("ValueJoiner"),
            lambda a, b: result.to_java(function.python(left.to_python(a), right.to_python(b))),
        )
