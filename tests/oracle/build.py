"""From a declared topology to the real one: one function per node type, in one table."""

from __future__ import annotations

from functools import partial, singledispatchmethod
from typing import Any

from oracle import functions as fn
from oracle import spec
from oracle.callbacks import Callbacks, Errors
from oracle.codec import Codec, codec, key_to_sink
from oracle.jvm import dsl, java_class, millis, streams
from oracle.processing import supplier
from oracle.processors import PROCESSORS
from oracle.shape import is_table, is_windowed, value_type

_JOIN = {"inner": "join", "left": "leftJoin", "outer": "outerJoin"}


class Build:
    """Builds every node once; equal nodes are one."""

    def __init__(self, builder: Any, errors: Errors, retention: int | None = None) -> None:
        self._builder = builder
        self._call = Callbacks(errors)
        self._errors = errors
        self._retention = retention
        self._built: dict[spec.Node, Any] = {}
        self._key = codec(spec.STRING)

    def node(self, node: spec.Node) -> Any:
        if node not in self._built:
            self._built[node] = self._make(node)
        return self._built[node]

    def sink(self, sink: spec.Sink) -> None:
        built = self.node(sink.node)
        stream = built.toStream() if is_table(sink.node) else built
        if is_windowed(sink.node):
            unwindow = self._errors.kept(lambda key, _: key_to_sink(key))
            stream = stream.selectKey(dsl("KeyValueMapper") @ unwindow)
        stream.to(sink.topic, dsl("Produced").with_(self._key.serde, _codec(sink.node).serde))

    @singledispatchmethod
    def _make(self, node: spec.Node) -> Any:
        raise TypeError(f"the oracle cannot build {type(node).__name__}")

    # Sources

    @_make.register
    def _(self, node: spec.Stream) -> Any:
        return self._builder.stream(node.topic, self._consumed(node))

    @_make.register
    def _(self, node: spec.Table) -> Any:
        if node.history is not None:
            name = node.store or f"{node.topic}-versions"
            stores = streams("state.Stores")
            supplier = stores.persistentVersionedKeyValueStore(name, millis(node.history))
            versioned = self._with_serdes(dsl("Materialized").as_(supplier), node)
            return self._builder.table(node.topic, self._consumed(node), versioned)
        if node.store:
            return self._builder.table(node.topic, self._consumed(node), self._materialized(node, node.store))
        return self._builder.table(node.topic, self._consumed(node))

    @_make.register
    def _(self, node: spec.GlobalTable) -> Any:
        return self._builder.globalTable(node.topic, self._consumed(node))

    # Stateless steps

    @_make.register
    def _(self, node: spec.Filter) -> Any:
        return self.node(node.input).filter(*self._filter(node))

    @_make.register
    def _(self, node: spec.FilterNot) -> Any:
        return self.node(node.input).filterNot(*self._filter(node))

    def _filter(self, node: spec.Filter | spec.FilterNot) -> list[Any]:
        predicate = fn.lookup(fn.PREDICATES, node.predicate)
        return [self._call.predicate(predicate, _codec(node.input)), *self._named_store(node)]

    @_make.register
    def _(self, node: spec.MapValues) -> Any:
        function = fn.lookup(fn.MAPPERS, node.mapper)
        mapper = self._call.mapper(function, _codec(node.input), _codec(node))
        return self.node(node.input).mapValues(mapper, *self._named_store(node))

    @_make.register
    def _(self, node: spec.SelectKey) -> Any:
        return self.node(node.input).selectKey(self._selector(node.selector, node.input))

    @_make.register
    def _(self, node: spec.FlatMapValues) -> Any:
        function = fn.lookup(fn.EXPANDERS, node.expander)
        return self.node(node.input).flatMapValues(
            self._call.expander(function, _codec(node.input), _codec(node))
        )

    @_make.register
    def _(self, node: spec.Merge) -> Any:
        return self.node(node.left).merge(self.node(node.right))

    @_make.register
    def _(self, node: spec.Split) -> Any:
        branched = self.node(node.input).split(dsl("Named").as_("split-"))
        for predicate in node.predicates:
            function = fn.lookup(fn.PREDICATES, predicate)
            branched = branched.branch(self._call.predicate(function, _codec(node.input)))
        branches = branched.defaultBranch()
        default = branches.get("split-0")
        return [branches.get(f"split-{i + 1}") for i in range(len(node.predicates))] + [default]

    @_make.register
    def _(self, node: spec.Branch) -> Any:
        return self.node(node.split)[node.index]

    @_make.register
    def _(self, node: spec.Repartition) -> Any:
        settings = dsl("Repartitioned").with_(self._key.serde, _codec(node).serde).withName(node.name)
        return self.node(node.input).repartition(settings)

    @_make.register
    def _(self, node: spec.ToTable) -> Any:
        return self.node(node.input).toTable(self._materialized(node, node.store))

    @_make.register
    def _(self, node: spec.ToStream) -> Any:
        return self.node(node.input).toStream()

    @_make.register
    def _(self, node: spec.Process) -> Any:
        make = partial(fn.lookup, PROCESSORS, node.processor)
        return self.node(node.input).process(supplier(make, node.store, _codec(node.input), self._errors))

    # Aggregations

    @_make.register
    def _(self, node: spec.GroupByKey) -> Any:
        return self.node(node.input).groupByKey(self._grouped(node))

    @_make.register
    def _(self, node: spec.GroupBy) -> Any:
        if is_table(node.input):
            function = fn.lookup(fn.PAIRINGS, node.by)
            by = self._call.pairing(function, _codec(node.input), self._key, _codec(node))
        else:
            by = self._selector(node.by, node.input)
        return self.node(node.input).groupBy(by, self._grouped(node))

    @_make.register
    def _(self, node: spec.Count) -> Any:
        return self._windowed(node).count(self._aggregate_store(node))

    @_make.register
    def _(self, node: spec.Reduce) -> Any:
        store = self._aggregate_store(node)
        if is_table(node.grouped.input):
            fold = fn.lookup(fn.TABLE_FOLDS, node.reducer)
            steps = [self._call.table_reducer(step, _codec(node)) for step in (fold.add, fold.subtract)]
            return self.node(node.grouped).reduce(*steps, store)
        reducer = self._call.reducer(fn.lookup(fn.REDUCERS, node.reducer), _codec(node))
        return self._windowed(node).reduce(reducer, store)

    @_make.register
    def _(self, node: spec.Aggregate) -> Any:
        store, value, result = self._aggregate_store(node), _codec(node.grouped), _codec(node)
        if is_table(node.grouped.input):
            fold = fn.lookup(fn.TABLE_FOLDS, node.fold)
            second = [self._call.aggregator(fold.subtract, value, result)]
        else:
            fold = fn.lookup(fn.FOLDS, node.fold)
            second = [self._call.merger(fold.merge, result)] if isinstance(node.window, spec.Session) else []
        first = self._call.aggregator(fold.add, value, result)
        return self._windowed(node).aggregate(self._call.initializer(fold, result), first, *second, store)

    @_make.register
    def _(self, node: spec.Cogroup) -> Any:
        result = _codec(node)
        folds = [fn.lookup(fn.FOLDS, name) for name in node.folds]
        cogrouped: Any = None
        for grouped, fold in zip(node.inputs, folds, strict=True):
            add = self._call.aggregator(fold.add, _codec(grouped), result)
            stream = self.node(grouped)
            cogrouped = stream.cogroup(add) if cogrouped is None else cogrouped.cogroup(stream, add)
        if node.window is not None:
            cogrouped = cogrouped.windowedBy(_window(node.window))
        session = isinstance(node.window, spec.Session)
        merger = [self._call.merger(folds[0].merge, result)] if session else []
        return cogrouped.aggregate(
            self._call.initializer(folds[0], result), *merger, self._aggregate_store(node)
        )

    def _windowed(self, node: spec.Count | spec.Reduce | spec.Aggregate) -> Any:
        grouped = self.node(node.grouped)
        if node.window is None:
            return grouped
        windowed = grouped.windowedBy(_window(node.window))
        return windowed.emitStrategy(dsl("EmitStrategy").onWindowClose()) if node.on_close else windowed

    # Joins

    @_make.register
    def _(self, node: spec.StreamJoin) -> Any:
        windows = dsl("JoinWindows").ofTimeDifferenceAndGrace(millis(0), millis(node.grace))
        windows = windows.before(millis(node.before)).after(millis(node.after))
        serdes = dsl("StreamJoined").with_(self._key.serde, _codec(node.left).serde, _codec(node.right).serde)
        joiner = self._joiner(node, node.left, node.right)
        return self._join(node.left, node.kind)(self.node(node.right), joiner, windows, serdes)

    @_make.register
    def _(self, node: spec.StreamTableJoin) -> Any:
        serdes = [self._key.serde, _codec(node.stream).serde, _codec(node.table).serde]
        joined = dsl("Joined").with_(*serdes)
        if node.grace is not None:
            joined = dsl("Joined").with_(*serdes, "held-back", millis(node.grace))
        joiner = self._joiner(node, node.stream, node.table)
        return self._join(node.stream, node.kind)(self.node(node.table), joiner, joined)

    @_make.register
    def _(self, node: spec.GlobalJoin) -> Any:
        selector = self._selector(node.selector, node.stream)
        joiner = self._joiner(node, node.stream, node.table)
        return self._join(node.stream, node.kind)(self.node(node.table), selector, joiner)

    @_make.register
    def _(self, node: spec.TableJoin) -> Any:
        joiner = self._joiner(node, node.left, node.right)
        return self._join(node.left, node.kind)(self.node(node.right), joiner, *self._named_store(node))

    @_make.register
    def _(self, node: spec.ForeignKeyJoin) -> Any:
        function = fn.lookup(fn.SELECTORS, node.extractor)
        extractor = self._call.extractor(function, _codec(node.left), self._key)
        joiner = self._joiner(node, node.left, node.right)
        store = self._materialized(node, node.store)
        return self._join(node.left, node.kind)(self.node(node.right), extractor, joiner, store)

    def _join(self, left: spec.Node, kind: spec.JoinKind) -> Any:
        return getattr(self.node(left), _JOIN[kind])

    def _joiner(self, node: Any, left: spec.Node, right: spec.Node) -> Any:
        function = fn.lookup(fn.JOINERS, node.joiner)
        return self._call.joiner(function, _codec(left), _codec(right), _codec(node))

    # Suppression

    @_make.register
    def _(self, node: spec.Suppress) -> Any:
        suppressed = dsl("Suppressed")
        buffer = _buffer(node)
        if node.limit is None:
            return self.node(node.input).suppress(suppressed.untilWindowCloses(buffer))
        return self.node(node.input).suppress(suppressed.untilTimeLimit(millis(node.limit), buffer))

    # Settings

    def _selector(self, name: str, of: spec.Node) -> Any:
        return self._call.selector(fn.lookup(fn.SELECTORS, name), _codec(of), self._key)

    def _consumed(self, node: spec.Stream | spec.Table | spec.GlobalTable) -> Any:
        return dsl("Consumed").with_(self._key.serde, _codec(node).serde)

    def _grouped(self, node: spec.Node) -> Any:
        return dsl("Grouped").with_(self._key.serde, _codec(node).serde)

    def _named_store(self, node: Any) -> list[Any]:
        return [self._materialized(node, node.store)] if node.store else []

    def _aggregate_store(self, node: spec.Count | spec.Reduce | spec.Aggregate | spec.Cogroup) -> Any:
        materialized = self._materialized(node, node.store)
        if self._retention is None or node.window is None or isinstance(node.window, spec.Unlimited):
            return materialized
        return materialized.withRetention(millis(self._retention))

    def _materialized(self, node: spec.Node, store: str | None) -> Any:
        materialized = dsl("Materialized")
        if store is None:
            return materialized.with_(self._key.serde, _codec(node).serde)
        return self._with_serdes(materialized.as_(store), node)

    def _with_serdes(self, materialized: Any, node: spec.Node) -> Any:
        return materialized.withKeySerde(self._key.serde).withValueSerde(_codec(node).serde)


def _codec(node: spec.Node) -> Codec:
    return codec(value_type(node))


def _window(window: spec.Window) -> Any:
    match window:
        case spec.Tumbling(size, grace):
            return dsl("TimeWindows").ofSizeAndGrace(millis(size), millis(grace))
        case spec.Hopping(size, advance, grace):
            return dsl("TimeWindows").ofSizeAndGrace(millis(size), millis(grace)).advanceBy(millis(advance))
        case spec.Sliding(difference, grace):
            return dsl("SlidingWindows").ofTimeDifferenceAndGrace(millis(difference), millis(grace))
        case spec.Session(gap, grace):
            return dsl("SessionWindows").ofInactivityGapAndGrace(millis(gap), millis(grace))
        case spec.Unlimited(start):
            return dsl("UnlimitedWindows").of().startOn(java_class("java.time.Instant").ofEpochMilli(start))


def _buffer(node: spec.Suppress) -> Any:
    config = dsl("Suppressed$BufferConfig")
    if node.max_records is None and node.max_bytes is None:
        return config.unbounded()
    if node.max_records is None:
        bounded = config.maxBytes(node.max_bytes)
    else:
        bounded = config.maxRecords(node.max_records)
        bounded = bounded if node.max_bytes is None else bounded.withMaxBytes(node.max_bytes)
    return bounded.emitEarlyWhenFull() if node.when_full == "emit" else bounded.shutDownWhenFull()
