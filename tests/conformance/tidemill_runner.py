"""Runs a scenario on Tidemill, through its own TopologyTestDriver; one function per node type."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, singledispatchmethod
from typing import TYPE_CHECKING, Any

from conformance.tidemill_processor import adapted
from oracle import functions as fn
from oracle import spec
from oracle.processors import PROCESSORS
from oracle.shape import inputs, is_table, is_windowed, sources, value_type
from tidemill import serdes, windows
from tidemill.dsl import StreamsBuilder, suppressed
from tidemill.errors import TidemillError
from tidemill.topology import Topology

if TYPE_CHECKING:
    from tidemill.testing import TopologyTestDriver

_FOREVER = 2**63 - 1
_JOIN = {"inner": "join", "left": "left_join", "outer": "outer_join"}


def declare(*scenarios: spec.Scenario) -> StreamsBuilder:
    """The topology of a scenario, in Tidemill's words; those of several side by side."""
    builder = StreamsBuilder()
    for number, scenario in enumerate(scenarios):
        build = Build(builder, scenario.config.retention, _prefix(number, scenarios))
        for sink in scenario.sinks:
            build.sink(sink)
    return builder


def build_topology(scenario: spec.Scenario) -> Topology:
    """The topology of a scenario, checked."""
    return declare(scenario).build()


def run_tidemill(scenario: spec.Scenario) -> spec.Answer:
    """What Tidemill says: the output of every step, until it fails."""
    from tidemill.testing import TopologyTestDriver

    steps: list[tuple[spec.Record, ...]] = []
    driver: TopologyTestDriver | None = None
    failure, dropped = None, 0
    try:
        driver = TopologyTestDriver(declare(scenario), config=_config(scenario.config))
        run = _Run(scenario, driver)
        for action in scenario.steps:
            steps.append(run.step(action))
        dropped = driver.metrics()["dropped-records"]
    except TidemillError as error:
        failure = spec.Failure(None if driver is None else len(steps), type(error).__name__)
    finally:
        if driver is not None:
            driver.close()
    return spec.Answer(tuple(steps), dropped, failure)


def run_together(scenarios: Sequence[spec.Scenario]) -> list[spec.Answer]:
    """What Tidemill says to each of several scenarios, run by one query, one after the other.

    They share nothing but the query: topics and stores have names of their own. None may fail, and none may
    move the clock. All must be of one configuration.
    """
    from tidemill.testing import TopologyTestDriver

    answers = []
    with TopologyTestDriver(declare(*scenarios), config=_config(scenarios[0].config)) as driver:
        dropped = 0
        for number, scenario in enumerate(scenarios):
            steps = _Run(scenario, driver, _prefix(number, scenarios)).all_steps()
            total = driver.metrics()["dropped-records"]
            answers.append(spec.Answer(steps, total - dropped))
            dropped = total
    return answers


def _prefix(number: int, scenarios: Sequence[spec.Scenario]) -> str:
    return f"s{number}-" if len(scenarios) > 1 else ""


class Build:
    """Builds every node once; equal nodes are one."""

    def __init__(self, builder: StreamsBuilder, retention: int | None = None, prefix: str = "") -> None:
        self._builder = builder
        self._prefix = prefix
        self._retention = retention
        self._built: dict[spec.Node, Any] = {}

    def node(self, node: spec.Node) -> Any:
        if node not in self._built:
            self._built[node] = self._make(node)
        return self._built[node]

    def sink(self, sink: spec.Sink) -> None:
        built = self.node(sink.node)
        stream = built.to_stream() if is_table(sink.node) else built
        stream.to(self._prefix + sink.topic, key=_key_serde(sink.node), value=_serde(sink.node))

    @singledispatchmethod
    def _make(self, node: spec.Node) -> Any:
        raise TypeError(f"the Tidemill runner cannot build {type(node).__name__}")

    # Sources

    @_make.register
    def _(self, node: spec.Stream) -> Any:
        return self._builder.stream(self._prefix + node.topic, key=serdes.string, value=_serde(node))

    @_make.register
    def _(self, node: spec.Table) -> Any:
        topic, options = self._prefix + node.topic, _given({"versioned": node.history})
        return self._builder.table(
            topic, key=serdes.string, value=_serde(node), **self._store(node), **options
        )

    @_make.register
    def _(self, node: spec.GlobalTable) -> Any:
        return self._builder.global_table(self._prefix + node.topic, key=serdes.string, value=_serde(node))

    # Stateless steps

    @_make.register
    def _(self, node: spec.Filter) -> Any:
        predicate = fn.lookup(fn.PREDICATES, node.predicate).column
        return self.node(node.input).filter(predicate, **self._store(node))

    @_make.register
    def _(self, node: spec.FilterNot) -> Any:
        predicate = fn.lookup(fn.PREDICATES, node.predicate).column
        return self.node(node.input).filter_not(predicate, **self._store(node))

    @_make.register
    def _(self, node: spec.MapValues) -> Any:
        mapper = fn.lookup(fn.MAPPERS, node.mapper).column
        return self.node(node.input).map_values(mapper, **self._store(node))

    @_make.register
    def _(self, node: spec.SelectKey) -> Any:
        return self.node(node.input).select_key(
            fn.lookup(fn.SELECTORS, node.selector).column, key=serdes.string
        )

    @_make.register
    def _(self, node: spec.FlatMapValues) -> Any:
        return self.node(node.input).flat_map_values(fn.lookup(fn.EXPANDERS, node.expander).column)

    @_make.register
    def _(self, node: spec.Merge) -> Any:
        return self.node(node.left).merge(self.node(node.right))

    @_make.register
    def _(self, node: spec.Split) -> Any:
        branched = self.node(node.input).split()
        for predicate in node.predicates:
            branched = branched.branch(fn.lookup(fn.PREDICATES, predicate).column)
        return list(branched.default_branch().values())

    @_make.register
    def _(self, node: spec.Branch) -> Any:
        return self.node(node.split)[node.index]

    @_make.register
    def _(self, node: spec.Repartition) -> Any:
        return self.node(node.input).repartition(
            name=self._prefix + node.name, key=serdes.string, value=_serde(node)
        )

    @_make.register
    def _(self, node: spec.ToTable) -> Any:
        return self.node(node.input).to_table(**self._store(node))

    @_make.register
    def _(self, node: spec.ToStream) -> Any:
        return self.node(node.input).to_stream()

    @_make.register
    def _(self, node: spec.Process) -> Any:
        make = partial(fn.lookup, PROCESSORS, node.processor)
        processor = adapted(make, self._prefix + node.store, _serde_of(make().state))
        return self.node(node.input).process(processor, key=serdes.string, value=_serde(node))

    # Aggregations

    @_make.register
    def _(self, node: spec.GroupByKey) -> Any:
        return self.node(node.input).group_by_key()

    @_make.register
    def _(self, node: spec.GroupBy) -> Any:
        by = fn.lookup(fn.PAIRINGS if is_table(node.input) else fn.SELECTORS, node.by).column
        return self.node(node.input).group_by(by, key=serdes.string, value=_serde(node))

    @_make.register
    def _(self, node: spec.Count) -> Any:
        return self._windowed(node).count(**self._options(node))

    @_make.register
    def _(self, node: spec.Reduce) -> Any:
        options = self._options(node)
        if is_table(node.grouped.input):
            fold = fn.lookup(fn.TABLE_FOLDS, node.reducer)
            return self.node(node.grouped).reduce(_reducer(fold.add), _reducer(fold.subtract), **options)
        return self._windowed(node).reduce(fn.lookup(fn.REDUCERS, node.reducer).column, **options)

    @_make.register
    def _(self, node: spec.Aggregate) -> Any:
        options = self._options(node) | {"value": _serde(node)}
        if is_table(node.grouped.input):
            fold = fn.lookup(fn.TABLE_FOLDS, node.fold)
            steps = (fold.add.column, fold.subtract.column)
            return self.node(node.grouped).aggregate(_initial(fold), *steps, **options)
        fold = fn.lookup(fn.FOLDS, node.fold)
        if isinstance(node.window, spec.Session):
            options["merger"] = fold.merge.column
        return self._windowed(node).aggregate(_initial(fold), fold.add.column, **options)

    @_make.register
    def _(self, node: spec.Cogroup) -> Any:
        folds = [fn.lookup(fn.FOLDS, name) for name in node.folds]
        cogrouped: Any = None
        for grouped, fold in zip(node.inputs, folds, strict=True):
            stream = self.node(grouped)
            add = fold.add.column
            cogrouped = stream.cogroup(add) if cogrouped is None else cogrouped.cogroup(stream, add)
        if node.window is not None:
            cogrouped = cogrouped.windowed_by(_window(node.window))
        options = self._options(node) | {"value": _serde(node)}
        if isinstance(node.window, spec.Session):
            options["merger"] = folds[0].merge.column
        return cogrouped.aggregate(_initial(folds[0]), **options)

    def _options(self, node: Any) -> dict[str, Any]:
        window = getattr(node, "window", None)
        keeps = window is not None and not isinstance(window, spec.Unlimited)
        return self._store(node) | _given({"retention": self._retention if keeps else None})

    def _store(self, node: Any) -> dict[str, str]:
        return {} if node.store is None else {"store": self._prefix + node.store}

    def _windowed(self, node: spec.Count | spec.Reduce | spec.Aggregate) -> Any:
        grouped = self.node(node.grouped)
        if node.window is None:
            return grouped
        windowed = grouped.windowed_by(_window(node.window))
        return windowed.emit_strategy("close") if node.on_close else windowed

    # Joins

    @_make.register
    def _(self, node: spec.StreamJoin) -> Any:
        window = windows.join(before=node.before, after=node.after, grace=node.grace)
        return self._join(node.left, node.kind)(self.node(node.right), _joiner(node), window)

    @_make.register
    def _(self, node: spec.StreamTableJoin) -> Any:
        options = _given({"grace": node.grace})
        return self._join(node.stream, node.kind)(self.node(node.table), _joiner(node), **options)

    @_make.register
    def _(self, node: spec.GlobalJoin) -> Any:
        selector = fn.lookup(fn.SELECTORS, node.selector).column
        return self._join(node.stream, node.kind)(self.node(node.table), _joiner(node), key=selector)

    @_make.register
    def _(self, node: spec.TableJoin) -> Any:
        return self._join(node.left, node.kind)(self.node(node.right), _joiner(node), **self._store(node))

    @_make.register
    def _(self, node: spec.ForeignKeyJoin) -> Any:
        options = {"foreign_key": fn.lookup(fn.SELECTORS, node.extractor).column}
        options |= self._store(node)
        return self._join(node.left, node.kind)(self.node(node.right), _joiner(node), **options)

    def _join(self, left: spec.Node, kind: spec.JoinKind) -> Any:
        return getattr(self.node(left), _JOIN[kind])

    # Suppression

    @_make.register
    def _(self, node: spec.Suppress) -> Any:
        bounds = _given({"max_records": node.max_records, "max_bytes": node.max_bytes})
        if node.limit is None:
            return self.node(node.input).suppress(suppressed.until_window_closes(**bounds))
        full = "emit-early" if node.when_full == "emit" else "shut-down"
        return self.node(node.input).suppress(
            suppressed.until_time_limit(node.limit, when_full=full, **bounds)
        )


class _Run:
    """One scenario's topics in a driver."""

    def __init__(self, scenario: spec.Scenario, driver: TopologyTestDriver, prefix: str = "") -> None:
        self._scenario = scenario
        self._driver = driver
        self._prefix = prefix
        types = {topic: kind for sink in scenario.sinks for topic, kind in sources(sink.node).items()}
        self._values = {topic: _serde_of(kind) for topic, kind in types.items()}
        self._inputs = {
            topic: driver.create_input_topic(prefix + topic, key=serdes.string, value=serde)
            for topic, serde in self._values.items()
        }
        self._outputs = {
            sink: driver.create_output_topic(
                prefix + sink.topic, key=_key_serde(sink.node), value=_serde(sink.node)
            )
            for sink in scenario.sinks
        }

    def step(self, action: spec.Input | spec.Advance) -> tuple[spec.Record, ...]:
        if isinstance(action, spec.Advance):
            self._driver.advance_wall_clock_time(action.millis)
        else:
            topic, headers = self._inputs[action.topic], _headers(action)
            topic.pipe_input(action.key, action.value, timestamp=action.ts, headers=headers)
        return self._read()

    def all_steps(self) -> tuple[tuple[spec.Record, ...], ...]:
        """All steps at once; the driver keeps apart what comes of each."""
        piped = []
        for action in self._scenario.steps:
            assert isinstance(action, spec.Input)
            key, value = serdes.string.encode(action.key), self._values[action.topic].encode(action.value)
            piped.append((self._prefix + action.topic, key, value, action.ts, _headers(action)))
        steps = []
        for came in self._driver._pipe(piped):
            counts = {topic: sum(name == topic for name, *_ in came) for topic in {name for name, *_ in came}}
            steps.append(self._read(counts))
        return tuple(steps)

    def _read(self, counts: dict[str, int] | None = None) -> tuple[spec.Record, ...]:
        found = []
        for sink, topic in self._outputs.items():
            count = topic.queue_size() if counts is None else counts.get(self._prefix + sink.topic, 0)
            found += [self._record(sink, topic.read_record()) for _ in range(count)]
        return tuple(found)

    def _record(self, sink: spec.Sink, record: Any) -> spec.Record:
        headers = tuple(
            (name, None if value is None else value.decode()) for name, value in record.headers or ()
        )
        return spec.Record(
            sink.topic,
            _windowed_key(record.key) if is_windowed(sink.node) and record.key is not None else record.key,
            record.value,
            record.timestamp,
            headers if self._scenario.compare_headers else (),
        )


def _headers(action: spec.Input) -> list[tuple[str, bytes | None]]:
    return [(name, value.encode()) for name, value in action.headers]


def _config(config: spec.Config) -> dict[str, str]:
    return {} if config.cache else {"statestore.cache.max.bytes": "0"}


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _serde(node: spec.Node) -> Any:
    return _serde_of(value_type(node))


def _serde_of(kind: str) -> Any:
    if kind == spec.LONG:
        return serdes.long
    return serdes.string if kind == spec.STRING else serdes.json(kind)


def _key_serde(node: spec.Node) -> Any:
    match _window_of(node) if is_windowed(node) else None:
        case None:
            return serdes.string
        case spec.Session():
            return serdes.session_windowed(serdes.string)
        case spec.Tumbling(size) | spec.Hopping(size) | spec.Sliding(size):
            return serdes.time_windowed(serdes.string, size)
        case spec.Unlimited():
            return serdes.time_windowed(serdes.string)


def _windowed_key(key: Any) -> tuple[str, int, int]:
    return (key.key, key.start, _FOREVER if key.end is None else key.end)


def _window_of(node: spec.Node) -> spec.Window | None:
    """The window whose keys a windowed node carries."""
    window: spec.Window | None = getattr(node, "window", None)
    return window if window is not None else _window_of(inputs(node)[0])


def _window(window: spec.Window) -> Any:
    match window:
        case spec.Tumbling(size, grace):
            return windows.tumbling(size, grace=grace)
        case spec.Hopping(size, advance, grace):
            return windows.hopping(size, advance, grace=grace)
        case spec.Sliding(difference, grace):
            return windows.sliding(difference, grace=grace)
        case spec.Session(gap, grace):
            return windows.session(gap, grace=grace)
        case spec.Unlimited(start):
            return windows.unlimited(start)


def _initial(fold: fn.Fold | fn.TableFold) -> Any:
    """A long stays a long: a bare 0 would be an int to Spark."""
    return (lambda: fn.F.lit(fold.initial).cast("long")) if isinstance(fold.initial, int) else fold.initial


def _reducer(step: fn.Function) -> Any:
    return lambda aggregate, value: step.column(None, value, aggregate)


def _joiner(node: Any) -> Any:
    return fn.lookup(fn.JOINERS, node.joiner).column
