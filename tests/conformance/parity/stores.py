"""Groups H and I: state stores, serdes and formats."""

from conformance.parity.model import Group, Tier, decided, passed

_FRONT, _KERNEL, _CATALYST, _SPARK = Tier.FRONT_END, Tier.KERNEL, Tier.CATALYST, Tier.SPARK
_CHECKPOINT = "Spark's checkpoint keeps every store"
_ONE_STORE = "state is always in RocksDB, through Spark's state store"
_PYTHON = Tier.PYTHON
_KEPT = "processor/test_stores.py::"
_ROCKSDB = "engine/test_settings.py::test_state_is_in_rocksdb_with_changelog_checkpoints"

STORES = Group(
    "H",
    "State stores",
    (
        passed(
            151,
            "Key-value store: get, put, put_if_absent, put_all, delete",
            _PYTHON,
            f"{_KEPT}test_key_value_store_keeps_and_deletes",
            f"{_KEPT}test_null_key_is_refused",
        ),
        passed(
            152,
            "Key-value store: ranges and all, both directions, in the order of bytes",
            _PYTHON,
            f"{_KEPT}test_scans_follow_the_bytes_of_keys",
        ),
        passed(153, "Key-value store: scan by prefix", _PYTHON, f"{_KEPT}test_prefix_scan"),
        passed(
            154,
            "Key-value store: number of entries",
            _PYTHON,
            f"{_KEPT}test_key_value_store_keeps_and_deletes",
        ),
        passed(
            155,
            "Key-value store with timestamps",
            _PYTHON,
            f"{_KEPT}test_timestamped_store_keeps_times_and_headers",
            "programs/test_driver.py::test_driver_verbs",
        ),
        passed(
            156,
            "Versioned store: put, delete and get as of a time",
            _PYTHON,
            f"{_KEPT}test_versioned_store_answers_as_of_a_time",
        ),
        passed(
            157,
            "Versioned store: history and grace",
            _PYTHON,
            f"{_KEPT}test_versioned_store_forgets_history_but_not_the_latest",
            "versioned_inner_looks_up_as_of_the_stream_record",
        ),
        passed(158, "Window store: put and fetch", _PYTHON, f"{_KEPT}test_window_store_by_key_and_time"),
        passed(
            159,
            "Window store: ranges of time and keys, both directions",
            _PYTHON,
            f"{_KEPT}test_window_store_by_key_and_time",
            f"{_KEPT}test_timed_stores_are_scanned_both_ways_and_by_ranges_of_keys",
        ),
        passed(
            160,
            "Session store: put, remove, fetch, find, both directions",
            _PYTHON,
            f"{_KEPT}test_session_store",
            f"{_KEPT}test_timed_stores_are_scanned_both_ways_and_by_ranges_of_keys",
        ),
        passed(
            161,
            "Session store: sessions of all keys by their end",
            _PYTHON,
            f"{_KEPT}test_timed_stores_are_scanned_both_ways_and_by_ranges_of_keys",
        ),
        passed(
            162,
            "Stores that keep headers",
            _PYTHON,
            f"{_KEPT}test_timestamped_store_keeps_times_and_headers",
            "processor/test_mock_context.py::test_what_a_processor_does_is_captured",
        ),
        decided(
            163,
            "`dsl.store.format`",
            _SPARK,
            "state has one format; the library's own aggregates store no headers either",
            "runtime/test_config.py::test_every_unneeded_key_is_accepted",
        ),
        decided(164, "Stores on disk", _SPARK, _ONE_STORE, _ROCKSDB),
        decided(165, "Stores in memory", _SPARK, _ONE_STORE, _ROCKSDB),
        decided(
            166,
            "A store that forgets what was used least",
            _SPARK,
            "a store says how long it keeps a row, not how many rows: Spark's state is not bound by memory",
        ),
        passed(
            167,
            "Versioned store on disk",
            _PYTHON,
            "processor/test_processors.py::test_every_kind_of_store_can_be_looked_into",
        ),
        passed(
            168,
            "Window store on disk",
            _PYTHON,
            "processor/test_processors.py::test_every_kind_of_store_can_be_looked_into",
            f"{_KEPT}test_window_store_forgets_by_its_own_time",
        ),
        decided(169, "Window store in memory", _SPARK, _ONE_STORE, _ROCKSDB),
        passed(
            170,
            "Session store on disk",
            _PYTHON,
            "processor/test_processors.py::test_every_kind_of_store_can_be_looked_into",
            f"{_KEPT}test_session_store",
        ),
        passed(
            171,
            "`caching=` of a store; what is logged is the checkpoint's matter",
            _KERNEL,
            "dsl/test_aggregates.py::test_store_options",
            "table_stored_with_cache_hides_the_delete_of_an_unknown_key",
        ),
        decided(
            172,
            "Cache of updates in front of a store",
            _KERNEL,
            "a batch plays the part of the cache: one update per key and batch, or every one with a cache of "
            "no bytes",
            "runtime/test_config.py::test_cache_of_no_bytes_turns_caching_off",
            "table_filter_stored_with_cache",
        ),
        passed(
            173,
            "Changelog topics: names, keys, values, tombstones, compaction (where asked for: see 116)",
            _KERNEL,
            "conformance/test_changelogs.py::test_changelog_has_the_bytes_of_kafka_streams",
            "runtime/test_changelogs.py::test_changelog_topics_hold_the_tables",
            "runtime/test_changelogs.py::test_changelog_is_written_once_whatever_fails",
            "runtime/test_exactly_once.py::test_kill_loses_and_doubles_nothing",
        ),
        passed(
            174,
            "State is back before processing goes on",
            _SPARK,
            "runtime/test_lifecycle.py::test_stopped_app_goes_on_where_it_was",
            "runtime/test_exactly_once.py::test_kill_loses_and_doubles_nothing",
        ),
        decided(
            175,
            "What is older than its retention is gone",
            _KERNEL,
            "a window counts until it is closed; the stores of the library forget it a moment before",
            "operators/test_state_is_gone.py::test_closed_windows_are_forgotten",
            "operators/test_state_is_gone.py::test_join_buffers_are_forgotten_with_what_waited_in_them",
            "stream_join_retention_edge_in_memory",
        ),
        decided(
            176, "Stores of the user's own", _SPARK, "Spark's state store is the one that is checkpointed"
        ),
        decided(
            177,
            "A hook that tunes RocksDB",
            _SPARK,
            "settings under `spark.sql.streaming.stateStore.rocksdb.` do, without a class",
        ),
        passed(
            178,
            "A store shared by processors",
            _PYTHON,
            "processor/test_processors.py::test_low_level_topology",
            "programs/test_python_verbs.py::test_stores_declared_with_the_builder",
        ),
        decided(
            179,
            "Iterators over stores",
            _PYTHON,
            "a scan is a plain Python iterator: nothing has to be closed, and changes during it are borne",
            f"{_KEPT}test_scan_sees_changes_made_before_it_and_bears_those_made_during_it",
        ),
        decided(
            180, "Hooks that restore a store of the user's own", _SPARK, f"{_CHECKPOINT} and restores it"
        ),
        decided(181, "Suppliers of store families", _SPARK, _ONE_STORE),
        passed(
            182,
            "Global stores read by any processor",
            _PYTHON,
            "processor/test_processors.py::test_low_level_topology",
            f"{_KEPT}test_store_of_another_step_is_only_read",
        ),
        decided(183, "Offsets kept by a store", _SPARK, "offsets and state are one checkpoint in Spark"),
    ),
)

_JAVA = "serde/test_java_agrees.py::"

SERDES = Group(
    "I",
    "Serdes and formats",
    (
        passed(
            184,
            "Strings, numbers, booleans, UUIDs, bytes, void and lists, with Java's bytes",
            _CATALYST,
            f"{_JAVA}test_primitive_has_the_bytes_of_java",
            f"{_JAVA}test_list_has_the_bytes_of_java",
            "serde_native/test_single_values.py::test_bytes_are_those_of_python_and_come_back",
            "serde_native/test_single_values.py::test_void_is_null_whatever_the_bytes",
        ),
        passed(
            185,
            "Serdes of the user's own",
            Tier.PYTHON,
            "serde_native/test_custom.py::test_functions_run_in_spark",
            "serde/test_codecs.py::test_custom_serde_uses_its_functions",
        ),
        decided(
            186,
            "Default serdes of an app",
            _FRONT,
            "a source names its serdes, and what is left out is refused before anything starts; a sink "
            "without one takes that of its type",
            "runtime/test_config.py::test_wrong_value_is_refused",
        ),
        passed(
            187,
            "Which steps keep a serde",
            _FRONT,
            "dsl/test_serde_inheritance.py::test_what_reaches_the_sink",
            "dsl/test_serde_inheritance.py::test_store_has_the_serdes_of_the_result",
        ),
        passed(
            188,
            "Keys in time windows, with Java's bytes",
            _CATALYST,
            f"{_JAVA}test_time_windowed_key_has_the_bytes_of_java",
            "serde_native/test_lists_and_windows.py::test_windowed_keys_have_the_bytes_of_python",
            "programs/test_rolling_sum.py::test_each_record_ends_a_window_with_its_sum",
        ),
        passed(
            189,
            "Keys in sessions, with Java's bytes",
            _CATALYST,
            f"{_JAVA}test_session_windowed_key_has_the_bytes_of_java",
            "serde_native/test_lists_and_windows.py::test_windowed_keys_have_the_bytes_of_python",
            "session_gap_is_inclusive",
        ),
        decided(190, "Window size and inner serde by setting", _FRONT, "a windowed serde is made with both"),
        passed(
            191,
            "Windowed keys lie in the partition of their inner key",
            _KERNEL,
            "runtime/test_places.py::test_beginnings_partitions_and_stream_time",
        ),
        passed(
            192,
            "Keys lie where Java's partitioner puts them",
            Tier.KERNEL,
            "runtime/test_records.py::test_keys_lie_where_java_producers_put_them",
            "kafka_clients/test_clients.py::test_keys_go_where_java_sends_them",
        ),
        decided(
            193, "Format of a table's repartition topic", _SPARK, "changes go from step to step as Spark rows"
        ),
        decided(194, "Formats of a foreign-key join's topics", _SPARK, "requests and answers are Spark rows"),
        decided(
            195,
            "Headers go with the record that triggers a result",
            _KERNEL,
            "a session result carries the headers of its record, with and without a cache; the library loses "
            "them without one",
            "headers_pass_stateless_steps",
            "headers_of_an_aggregate_are_those_of_the_record",
            "headers_of_a_suppressed_result_are_those_of_the_last_update",
            "headers_of_a_session_stay_with_cache",
            "runtime/test_records.py::test_record_is_kept_whole",
        ),
    ),
)
