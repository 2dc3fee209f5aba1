"""Steps without state: order, nulls and timestamps pass through."""

from conformance.cases import Case, case, into
from oracle.spec import (
    LONG,
    STRING,
    Branch,
    Filter,
    FilterNot,
    FlatMapValues,
    Input,
    MapValues,
    Merge,
    Repartition,
    Scenario,
    SelectKey,
    Sink,
    Split,
    Stream,
)

_IN = Stream("in", LONG)
_STEPS = into("in", ("a", 1, 5), ("b", 20, 3), (None, 30, 4), ("a", None, 1), ("a", 15, 2))
_SPLIT = Split(_IN, ("gt(18)", "even"))

CASES = [
    case("filter_passes_what_the_predicate_holds_for", Filter(_IN, "gt(10)"), _STEPS),
    case("filter_not_passes_the_rest", FilterNot(_IN, "gt(10)"), _STEPS),
    case("map_values_maps_null_too", MapValues(_IN, "text"), _STEPS),
    case("map_values_with_the_key", MapValues(_IN, "key_and_value"), _STEPS),
    case("select_key_may_give_null", SelectKey(_IN, "mod(4)"), _STEPS),
    case("flat_map_values_gives_none_or_many", FlatMapValues(_IN, "twice_if_gt(10)"), _STEPS),
    case(
        "flat_map_values_of_texts",
        FlatMapValues(Stream("in", STRING), "letters"),
        into("in", ("a", "xyz", 5), ("b", "", 3), ("b", None, 4)),
    ),
    case(
        "merge_interleaves",
        Merge(_IN, Stream("other", LONG)),
        [("in", "a", 1, 5), ("other", "a", 2, 3), ("in", None, None, 4)],
    ),
    case(
        "repartition_filters_null_keys_silently",
        Repartition(SelectKey(_IN, "mod(4)"), "moved"),
        _STEPS,
    ),
    Case(
        Scenario(
            "split_sends_each_record_to_one_branch",
            tuple(Sink(f"out-{index}", Branch(_SPLIT, index)) for index in range(3)),
            tuple(Input(*step) for step in _STEPS),
        )
    ),
]
