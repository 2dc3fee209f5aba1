"""Tables by themselves: sources, filters, mapped values, and which tombstones they forward."""

from conformance.cases import case, into
from oracle.spec import LONG, Config, Count, Filter, FilterNot, GroupByKey, MapValues, Stream, Table, ToTable

_CACHE = Config(cache=True)
_FILTERED = into(
    "t", ("a", 1, 1), ("a", 20, 2), ("a", 5, 3), ("a", 6, 4), ("a", None, 5), ("b", None, 6), ("b", 3, 7)
)
_MAPPED = into("t", ("a", 1, 1), ("a", 99, 2), ("a", None, 3), ("b", None, 4))
_REPEATED = into("t", ("a", None, 1), ("a", 1, 5), ("a", 1, 6), ("a", 2, 3), ("a", None, 2))

CASES = [
    case(
        "table_filters_stored_on_a_stored_table_know_old_values",
        Filter(Filter(Table("t", LONG, store="rows"), "gt(5)", store="large"), "gt(10)", store="larger"),
        _FILTERED,
    ),
    case(
        "table_filter_of_a_stored_filter_knows_old_values",
        Filter(Filter(Table("t", LONG), "gt(5)", store="large"), "gt(10)"),
        _FILTERED,
    ),
    case(
        "table_filter_of_stored_values_knows_old_values",
        Filter(MapValues(Table("t", LONG), "plus(1)", store="mapped"), "gt(10)", store="large"),
        _FILTERED,
    ),
    case(
        "table_filter_forwards_every_tombstone",
        Filter(Table("t", LONG), "gt(10)"),
        _FILTERED,
        golden="KTable.filter unmaterialized",
    ),
    case(
        "table_filter_of_a_stored_table_knows_old_values",
        Filter(Table("t", LONG, store="rows"), "gt(10)"),
        _FILTERED,
        golden="KTable.filter source materialized only",
    ),
    case(
        "table_filter_stored",
        Filter(Table("t", LONG), "gt(10)", store="passed"),
        _FILTERED,
        golden="KTable.filter materialized nocache",
    ),
    case(
        "table_filter_stored_with_cache",
        Filter(Table("t", LONG), "gt(10)", store="passed"),
        _FILTERED,
        golden="KTable.filter materialized cache(TTD)",
        config=_CACHE,
    ),
    case("table_filter_not", FilterNot(Table("t", LONG), "gt(10)"), _FILTERED),
    case(
        "table_map_values_does_not_map_tombstones",
        MapValues(Table("t", LONG), "tag_unless(99)"),
        _MAPPED,
        golden="KTable.mapValues unmat",
        form="joined",
    ),
    case(
        "table_map_values_stored",
        MapValues(Table("t", LONG), "tag_unless(99)", store="mapped"),
        _MAPPED,
        golden="KTable.mapValues mat nocache",
        form="joined",
    ),
    case(
        "table_forwards_tombstones_of_unknown_keys_and_drops_null_keys",
        Table("t", LONG),
        into("t", ("a", None, 1), ("a", 1, 5), ("a", 2, 3), (None, 1, 4), ("a", None, 2)),
        golden="table().toStream() passes tombstones for unknown keys; null key dropped",
    ),
    case(
        "table_stored_forwards_equal_values_again",
        Table("t", LONG, store="rows"),
        _REPEATED,
        golden="table(materialized).toStream() nocache",
    ),
    case(
        "table_stored_with_cache_hides_the_delete_of_an_unknown_key",
        Table("t", LONG, store="rows"),
        _REPEATED,
        golden="table(materialized).toStream() cached(TTD)",
        config=_CACHE,
    ),
    case(
        "table_filter_of_an_aggregate_knows_old_values",
        Filter(Count(GroupByKey(Stream("t", LONG))), "lt(3)"),
        into("t", ("a", 1, 1), ("a", 2, 5), ("b", 1, 2), ("a", 3, 4), ("a", 4, 3), ("b", None, 9)),
    ),
    case(
        "to_table_reads_a_stream_as_changes",
        ToTable(Stream("t", LONG), store="rows"),
        into("t", ("a", None, 1), ("a", 1, 5), (None, 1, 6), ("a", None, 2)),
        golden="toTable",
    ),
]
