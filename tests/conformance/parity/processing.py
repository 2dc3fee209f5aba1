"""Groups J and K: processors and time."""

from conformance.parity.model import Group, Tier, decided, passed

_FRONT, _KERNEL, _SPARK = Tier.FRONT_END, Tier.KERNEL, Tier.SPARK
_PYTHON = Tier.PYTHON
_RUN = "processor/test_processors.py::"
_TASKS = "processor/test_tasks.py::"
_MORE = "programs/test_python_verbs.py::"

PROCESSORS = Group(
    "J",
    "Processors",
    (
        passed(
            196,
            "`Processor`: init, process",
            _PYTHON,
            "processor_keeps_state_per_key",
            "processor_forwards_only_changes",
            "processor_headers_are_those_of_the_record",
        ),
        passed(
            197,
            "`FixedKeyProcessor` and plain bases",
            _PYTHON,
            f"{_RUN}test_record_tells_where_it_comes_from",
            "dsl/test_processors.py::test_bases_do_the_plain_thing",
        ),
        passed(
            198,
            "`Record.with_key`, `with_value`, `with_timestamp`, `with_headers`",
            _FRONT,
            "dsl/test_processors.py::test_record_is_changed_by_making_another",
        ),
        passed(
            199,
            "`context.forward(record, child)`",
            _PYTHON,
            f"{_RUN}test_low_level_topology",
            "processor_forwards_only_changes",
        ),
        passed(
            200,
            "Topic, partition and offset of the record at work; none in a punctuator",
            _PYTHON,
            f"{_RUN}test_record_tells_where_it_comes_from",
            f"{_MORE}test_schedule_with_a_start_follows_its_record_and_can_be_cancelled",
        ),
        passed(
            201,
            "Punctuation by stream time",
            _PYTHON,
            "punctuation_by_stream_time_is_aligned_and_collapses",
            f"{_TASKS}test_stream_time_ticks_are_aligned_and_collapse",
        ),
        passed(
            202,
            "Punctuation by wall clock",
            _PYTHON,
            "punctuation_by_wall_clock_keeps_its_grid",
            f"{_RUN}test_missing_data_alarm",
            "processor/test_clock.py::test_ticks_come_without_records_and_reach_every_task",
        ),
        passed(
            203,
            "Punctuation from a start on",
            _PYTHON,
            f"{_MORE}test_schedule_with_a_start_follows_its_record_and_can_be_cancelled",
        ),
        passed(
            204,
            "A punctuation is cancelled, also by itself",
            _PYTHON,
            f"{_MORE}test_schedule_with_a_start_follows_its_record_and_can_be_cancelled",
            f"{_TASKS}test_cancelled_schedule_stays_silent_in_a_task_made_anew",
        ),
        passed(
            205,
            "`context.state_store(name)`: connected and global stores",
            _PYTHON,
            f"{_RUN}test_low_level_topology",
            "programs/test_python_verbs.py::test_stores_declared_with_the_builder",
        ),
        decided(206, "`context.commit()`", _PYTHON, "every batch commits: there is nothing to ask for"),
        passed(
            207,
            "Stream time and system time of a task",
            _PYTHON,
            f"{_RUN}test_record_tells_where_it_comes_from",
            "processor/test_mock_context.py::test_what_a_processor_does_is_captured",
        ),
        decided(
            208,
            "What a context knows of the app",
            _PYTHON,
            "its id, its task and its settings; serdes are said where a processor is declared",
            f"{_RUN}test_record_tells_where_it_comes_from",
        ),
        passed(
            209,
            "Every function of the user is one callable, of (value) or (key, value) where both make sense",
            _FRONT,
            "dsl/test_stateless.py::test_value_mappers",
            "dsl/test_joins.py::test_stream_with_stream",
            "topology/test_validation.py::test_messages",
        ),
        passed(
            210,
            "Punctuation follows the record that made it due",
            _PYTHON,
            f"{_MORE}test_schedule_with_a_start_follows_its_record_and_can_be_cancelled",
            "punctuation_by_stream_time_is_aligned_and_collapses",
        ),
    ),
)


TIME = Group(
    "K",
    "Time and order",
    (
        passed(
            211,
            "A function that gives a record its time",
            Tier.CATALYST,
            "operators/test_times.py::test_time_is_computed_from_the_value",
        ),
        passed(
            212,
            "A time below zero ends the app",
            Tier.CATALYST,
            "operators/test_times.py::test_record_without_a_time_is_skipped_or_fails",
        ),
        passed(
            213,
            "A time below zero drops the record",
            Tier.CATALYST,
            "operators/test_times.py::test_record_without_a_time_is_skipped_or_fails",
        ),
        decided(
            214,
            "A time below zero becomes the partition's",
            Tier.CATALYST,
            "refused: Spark reads a partition in pieces that do not know each other's time; skip or fail",
            "operators/test_times.py::test_time_of_the_partition_is_refused",
        ),
        passed(
            215,
            "Time of the wall clock",
            Tier.CATALYST,
            "programs/test_own_windows.py::test_own_windows_and_streams_that_meet_themselves",
            "dsl/test_sources.py::test_time_of_the_wall",
        ),
        passed(
            216,
            "Stream time goes by operator and task, over all keys",
            _KERNEL,
            "tumbling_window_is_closed_by_another_key",
            "tumbling_window_is_not_closed_by_a_null_key",
            "stream_join_left_unmatched_is_released_by_another_key",
            "operators/test_batches.py::test_windows_close_by_the_time_of_their_own_partition",
        ),
        passed(
            217,
            "The inputs of a task are read in order of time",
            _KERNEL,
            "operators/test_batches.py::test_stream_and_table_of_one_batch_meet_in_time_order",
            f"{_TASKS}test_queues_are_merged_oldest_head_first",
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
        passed(
            221,
            "Late records are dropped and counted",
            _KERNEL,
            "hopping_late_record_still_updates_open_windows",
            "sliding_late_window_is_dropped_after_grace",
            "programs/test_driver.py::test_driver_verbs",
        ),
        passed(
            222,
            "Stream time survives a restart",
            _KERNEL,
            "runtime/test_places.py::test_beginnings_partitions_and_stream_time",
        ),
    ),
)
