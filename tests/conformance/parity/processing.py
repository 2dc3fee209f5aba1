"""Groups J and K: processors and time."""

from conformance.parity.model import Group, Tier, decided, not_yet, passed

_FRONT, _KERNEL, _SPARK = Tier.FRONT_END, Tier.KERNEL, Tier.SPARK
_NOT_RUN = "not run yet"

PROCESSORS = Group(
    "J",
    "Processors",
    (
        not_yet(196, "`Processor`: init, process, close", _NOT_RUN),
        not_yet(197, "`FixedKeyProcessor` and plain bases", _NOT_RUN),
        passed(
            198,
            "`Record.with_key`, `with_value`, `with_timestamp`, `with_headers`",
            _FRONT,
            "dsl/test_processors.py::test_record_is_changed_by_making_another",
        ),
        not_yet(199, "`context.forward(record, child)`", _NOT_RUN),
        not_yet(200, "Topic, partition and offset of the record at work", _NOT_RUN),
        not_yet(201, "Punctuation by stream time", _NOT_RUN),
        not_yet(202, "Punctuation by wall clock", _NOT_RUN),
        not_yet(203, "Punctuation from a start on", _NOT_RUN),
        not_yet(204, "A punctuation is cancelled", _NOT_RUN),
        not_yet(205, "`context.get_state_store(name)`", _NOT_RUN),
        not_yet(206, "`context.commit()`", _NOT_RUN),
        not_yet(207, "Stream time and system time of a task", _NOT_RUN),
        not_yet(208, "What a context knows of the app", _NOT_RUN),
        passed(
            209,
            "Every function of the user is one callable, of (value) or (key, value) where both make sense",
            _FRONT,
            "dsl/test_stateless.py::test_value_mappers",
            "dsl/test_joins.py::test_stream_with_stream",
            "topology/test_validation.py::test_messages",
        ),
        not_yet(210, "Punctuation follows the record that made it due", _NOT_RUN),
    ),
)

_NO_EXTRACTOR = "declared; the engine does not use it yet"

TIME = Group(
    "K",
    "Time and order",
    (
        not_yet(
            211,
            "A function that gives a record its time",
            _NO_EXTRACTOR,
            "dsl/test_sources.py::test_time_from_a_function",
        ),
        not_yet(212, "A time below zero ends the app", _NO_EXTRACTOR),
        not_yet(
            213,
            "A time below zero drops the record",
            _NO_EXTRACTOR,
            "dsl/test_sources.py::test_time_from_a_function_that_may_fail",
        ),
        not_yet(214, "A time below zero becomes the partition's", _NO_EXTRACTOR),
        not_yet(215, "Time of the wall clock", _NO_EXTRACTOR, "dsl/test_sources.py::test_time_of_the_wall"),
        passed(
            216,
            "Stream time goes by operator and task, over all keys",
            _KERNEL,
            "tumbling_window_is_closed_by_another_key",
            "tumbling_window_is_not_closed_by_a_null_key",
            "stream_join_left_unmatched_is_released_by_another_key",
        ),
        not_yet(
            217,
            "The inputs of a task are read in order of time",
            "the driver pipes one record at a time; no test has two topics in one batch",
        ),
        decided(
            218,
            "How long a task waits for an empty input",
            _SPARK,
            "a batch has what all topics held when it began; nothing waits",
            "runtime/test_config.py::test_every_unneeded_key_is_accepted",
        ),
        passed(
            219,
            "Timestamps of results",
            _KERNEL,
            "aggregate_skips_nulls_keeps_largest_timestamp_and_deletes_on_null",
            "table_join_takes_the_larger_timestamp",
            "stream_join_left_as_documented",
            "foreign_key_inner",
        ),
        passed(
            220,
            "In a plain table the last arrival wins",
            _KERNEL,
            "table_forwards_tombstones_of_unknown_keys_and_drops_null_keys",
            "stream_table_looks_up_in_processing_order",
        ),
        not_yet(
            221,
            "Late records are dropped and counted",
            "they are dropped as in the library; the count is not compared",
            "hopping_late_record_still_updates_open_windows",
            "sliding_late_window_is_dropped_after_grace",
        ),
        not_yet(222, "Stream time survives a restart", "no test restarts an app with open windows"),
    ),
)
