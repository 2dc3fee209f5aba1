"""Kinds of topologies with free parameters: every aggregation, join, table operator and chain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from hypothesis import strategies as st

from conformance.cases import LONG_RETENTION
from conformance.strategies import Timeline, scenarios
from oracle.spec import (
    LONG,
    STRING,
    Aggregate,
    Branch,
    Cogroup,
    Config,
    Count,
    Filter,
    FilterNot,
    FlatMapValues,
    ForeignKeyJoin,
    GlobalJoin,
    GlobalTable,
    GroupBy,
    GroupByKey,
    Hopping,
    JoinKind,
    MapValues,
    Merge,
    Node,
    Reduce,
    Repartition,
    Scenario,
    SelectKey,
    Session,
    Sliding,
    Split,
    Stream,
    StreamJoin,
    StreamTableJoin,
    Suppress,
    Table,
    TableJoin,
    ToStream,
    ToTable,
    Tumbling,
    Unlimited,
    Window,
)

Agreement = Literal["steps", "final"]
Nodes = st.SearchStrategy[Node]


@dataclass(frozen=True)
class Template:
    """A kind of topology; engines agree on every step, or only on the table that all steps add up to."""

    name: str
    nodes: Nodes
    shape: Timeline = Timeline()  # noqa: RUF009 - frozen, so that sharing it is safe
    config: Config = LONG_RETENTION
    agreement: Agreement = "steps"

    def scenarios(self) -> st.SearchStrategy[Scenario]:
        return scenarios(self.name, self.nodes, self.shape, self.config)


_CACHED = Config(cache=True, retention=LONG_RETENTION.retention)
_KINDS: tuple[JoinKind, ...] = get_args(JoinKind)
_GRACE = st.sampled_from([0, 1, 5, 20])
_SIZE = st.sampled_from([1, 5, 10])
_STORE = st.sampled_from([None, "store"])
_PAST_THE_FIRST_WINDOW = Timeline(start=100)
_ROWS_AND_FIELDS = Timeline(keys=("a", "a", "b", "c"))

_WINDOWS: dict[str, st.SearchStrategy[Window]] = {
    "tumbling": st.builds(Tumbling, _SIZE, _GRACE),
    "hopping": st.builds(Hopping, st.just(10), st.sampled_from([1, 4, 5, 10]), _GRACE),
    "sliding": st.builds(Sliding, _SIZE, _GRACE),
    "session": st.builds(Session, _SIZE, _GRACE),
    "unlimited": st.builds(Unlimited, st.sampled_from([0, 10])),
}
_CLOSING = ("tumbling", "hopping", "sliding", "session")

_LONGS = Stream("in", LONG)
_TEXTS = Stream("in", STRING)
_GROUPED_LONGS = st.sampled_from([GroupByKey(_LONGS), GroupBy(_LONGS, "mod(3)"), GroupBy(_LONGS, "initial")])
_GROUPED_TEXTS = st.sampled_from([GroupByKey(_TEXTS), GroupBy(_TEXTS, "value")])


def _aggregations(window: st.SearchStrategy[Window | None], on_close: bool = False) -> dict[str, Nodes]:
    close = st.just(on_close)
    folds = st.sampled_from(["cat", "sum", "sum_unless(3)"])
    return {
        "count": st.builds(Count, _GROUPED_LONGS, window, close, _STORE),
        "reduce": st.one_of(
            st.builds(Reduce, _GROUPED_LONGS, st.sampled_from(["add", "largest", "latest"]), window, close),
            st.builds(Reduce, _GROUPED_TEXTS, st.sampled_from(["concat", "pair"]), window, close),
        ),
        "aggregate": st.one_of(
            st.builds(Aggregate, _GROUPED_LONGS, folds, window, close),
            st.builds(Aggregate, _GROUPED_TEXTS, st.sampled_from(["cat", "cat_unless(B)"]), window, close),
        ),
    }


def _aggregate_templates() -> list[Template]:
    templates = [Template(verb, nodes) for verb, nodes in _aggregations(st.none()).items()]
    for kind, window in _WINDOWS.items():
        templates += [Template(f"{verb}_{kind}", nodes) for verb, nodes in _aggregations(window).items()]
    for kind in _CLOSING:
        # A record inside the very first sliding window closes nothing in the library.
        shape = _PAST_THE_FIRST_WINDOW if kind == "sliding" else Timeline()
        templates += [
            Template(f"{verb}_{kind}_on_close", nodes, shape)
            for verb, nodes in _aggregations(_WINDOWS[kind], on_close=True).items()
        ]
    return templates


def _cogroup_templates() -> list[Template]:
    inputs = (GroupByKey(Stream("l")), GroupByKey(Stream("r")))
    windows: dict[str, st.SearchStrategy[Window | None]] = {"plain": st.none(), **_WINDOWS}
    return [
        Template(f"cogroup_{kind}", st.builds(Cogroup, st.just(inputs), st.just(("cat", "cat(-)")), window))
        for kind, window in windows.items()
    ]


def _join_templates() -> list[Template]:
    left, right, stream, table = Stream("l"), Stream("r"), Stream("s"), Table("t")
    joiners = st.sampled_from(["pair", "pair_with_key"])
    sides = st.sampled_from([(left, right), (left, left), (SelectKey(Stream("l", LONG), "mod(2)"), right)])
    span = st.sampled_from([0, 3, 10])
    row = "fk string, x long"
    templates = []
    for kind in _KINDS:
        stream_joins = sides.flatmap(
            lambda pair, kind=kind: st.builds(
                StreamJoin, st.just(pair[0]), st.just(pair[1]), joiners, st.just(kind), span, span, _GRACE
            )
        )
        table_joins = st.builds(
            TableJoin,
            st.sampled_from([Table("l"), Filter(Table("l"), "is(A)"), Table("l", store="left")]),
            st.sampled_from([Table("r"), MapValues(Table("r"), "null_if(B)")]),
            st.just("pair"),
            st.just(kind),
            _STORE,
        )
        windowed_joins = _WINDOWS["tumbling"].map(
            lambda window, kind=kind: TableJoin(
                Count(GroupByKey(left), window), Aggregate(GroupByKey(right), "cat", window), "pair", kind
            )
        )
        templates += [
            Template(f"stream_join_{kind}", stream_joins),
            Template(f"table_join_{kind}", table_joins),
            Template(f"table_join_{kind}_windowed", windowed_joins),
        ]
    for kind in _KINDS[:2]:
        versioned = st.sampled_from([Table("t", history=20), Table("t", history=1000)])
        mapped = GlobalJoin(Stream("s", row), GlobalTable("t"), "field(fk)", "field_pair(fk)", kind)
        foreign = st.builds(
            ForeignKeyJoin,
            st.just(Table("l", row)),
            st.just(Table("r")),
            st.just("field(fk)"),
            st.just("field_pair(fk)"),
            st.just(kind),
            _STORE,
        )
        templates += [
            Template(
                f"stream_table_{kind}",
                st.builds(StreamTableJoin, st.just(stream), st.just(table), joiners, st.just(kind)),
            ),
            Template(
                f"stream_table_{kind}_versioned",
                st.builds(StreamTableJoin, st.just(stream), versioned, joiners, st.just(kind)),
            ),
            Template(
                f"stream_table_{kind}_held_back",
                st.builds(
                    StreamTableJoin,
                    st.just(stream),
                    st.just(Table("t", history=1000)),
                    joiners,
                    st.just(kind),
                    st.sampled_from([1, 10]),
                ),
                # The library fails on a null key here.
                Timeline(null_keys=False),
            ),
            Template(f"global_{kind}", st.just(mapped), _ROWS_AND_FIELDS),
            # The library takes an empty value on the right for none.
            Template(f"foreign_key_{kind}", foreign, replace(_ROWS_AND_FIELDS, empty_values=False)),
        ]
    return templates


def _table_templates() -> list[Template]:
    tables = st.sampled_from(
        [Table("t", LONG), Table("t", LONG, store="rows"), ToTable(Stream("t", LONG), store="rows")]
    )
    rows = Table("t", "g string, n long")
    grouped = st.sampled_from(
        [
            GroupBy(rows, "fields(g,n)"),
            GroupBy(Table("t", LONG), "mod(3)"),
            GroupBy(Table("t", LONG), "initial"),
        ]
    )
    folds = st.sampled_from(["signed_cat", "sum", "sum_null_at_zero"])
    return [
        Template("table", tables),
        Template("table_filter", st.builds(Filter, tables, st.just("gt(10)"), _STORE)),
        Template("table_filter_not", st.builds(FilterNot, tables, st.just("even"), _STORE)),
        Template("table_map_values", st.builds(MapValues, tables, st.just("null_if(3)"), _STORE)),
        Template("table_filter_then_map", st.builds(_filter_then_map, tables, _STORE)),
        Template("table_versioned", st.just(Table("t", LONG, history=20))),
        Template("group_table_count", st.builds(Count, grouped)),
        Template("group_table_reduce", st.builds(Reduce, grouped, st.just("sum"))),
        Template("group_table_aggregate", st.builds(Aggregate, grouped, folds)),
    ]


def _filter_then_map(table: Node, store: str | None) -> Node:
    return MapValues(Filter(table, "gt(5)"), "times(2)", store)


def _suppress_templates() -> list[Template]:
    rows = Table("t", LONG)
    templates = [
        Template(
            f"suppress_{kind}",
            st.builds(Suppress, st.one_of(*_aggregations(_WINDOWS[kind]).values())),
            # The library can give a second final result for these: only what remains at the end is compared.
            Timeline(flush=True) if kind in ("sliding", "session") else Timeline(),
            agreement="final" if kind in ("sliding", "session") else "steps",
        )
        for kind in _CLOSING
    ]
    limit = st.sampled_from([0, 5, 20])
    bound = st.sampled_from([1, 2, 3])
    return [
        *templates,
        Template("suppress_time_limit", st.builds(Suppress, st.just(rows), limit)),
        Template("suppress_max_records", st.builds(Suppress, st.just(rows), limit, bound)),
        Template(
            "suppress_time_limit_tumbling",
            st.builds(Suppress, st.builds(Count, _GROUPED_LONGS, _WINDOWS["tumbling"]), limit),
        ),
    ]


def _stateless_templates() -> list[Template]:
    split = Split(_LONGS, ("gt(12)", "even"))
    return [
        Template("filter", st.sampled_from([Filter(_LONGS, "gt(10)"), FilterNot(_LONGS, "key_is(a)")])),
        Template("map_values", st.sampled_from([MapValues(_LONGS, "plus(1)"), MapValues(_TEXTS, "upper")])),
        Template("flat_map_values", st.just(FlatMapValues(_LONGS, "twice_if_gt(10)"))),
        Template("merge", st.just(Merge(Filter(_LONGS, "even"), Stream("other", LONG)))),
        Template("split", st.builds(Branch, st.just(split), st.integers(0, 2))),
        Template("repartition", st.just(Repartition(SelectKey(_LONGS, "mod(2)"), "moved"))),
    ]


def _stage_templates() -> list[Template]:
    window_sums = st.builds(
        Aggregate, st.just(GroupByKey(_LONGS)), st.just("sum"), _WINDOWS["tumbling"] | _WINDOWS["hopping"]
    )
    session_sums = st.builds(Aggregate, st.just(GroupByKey(_LONGS)), st.just("sum"), _WINDOWS["session"])
    joined = StreamJoin(Stream("l"), Stream("r"), "pair", "inner", 10, 10, 5)
    counts = Count(GroupByKey(_LONGS))
    enriched = StreamTableJoin(Stream("s", LONG), Table("t", LONG), "add", "left")
    return [
        # Without its cache the library takes the initializer's value for the old value of a new row.
        Template("stages_count_of_counts", st.just(Count(GroupBy(counts, "mod(3)"))), config=_CACHED),
        Template("stages_sum_of_window_sums", window_sums.map(_summed_per_key), config=_CACHED),
        # Equal timestamps make the library lose the old value of a session.
        Template(
            "stages_sum_of_session_sums", session_sums.map(_summed_per_key), Timeline(distinct_times=True)
        ),
        Template("stages_windows_of_finals", window_sums.map(_windows_of_finals)),
        Template("stages_join_then_count", st.just(Count(GroupBy(joined, "value"), Tumbling(10, 5)))),
        Template("stages_enrich_by_own_count", st.just(StreamTableJoin(_LONGS, counts, "add", "left"))),
        Template(
            "stages_enrich_reduce_table_join",
            st.builds(
                TableJoin,
                st.just(Reduce(GroupByKey(enriched), "largest")),
                st.just(ToTable(Stream("u"))),
                st.just("pair"),
                st.sampled_from(_KINDS),
            ),
        ),
    ]


def _summed_per_key(sums: Node) -> Node:
    return Aggregate(GroupBy(sums, "inner_key"), "sum")


def _windows_of_finals(sums: Node) -> Node:
    return Aggregate(GroupByKey(SelectKey(ToStream(Suppress(sums)), "inner_key")), "cat", Hopping(40, 20, 20))


TEMPLATES: dict[str, Template] = {
    template.name: template
    for template in (
        *_stateless_templates(),
        *_aggregate_templates(),
        *_cogroup_templates(),
        *_join_templates(),
        *_table_templates(),
        *_suppress_templates(),
        *_stage_templates(),
    )
}
