"""Groups O, P, Q and R: queries, metrics, testing, tools."""

from conformance.parity.model import Group, Tier, decided, not_yet, passed

_TESTING = Tier.TESTING
_QUERIES = "queries are not built yet"
_METRICS = "not built yet"
_MEASURED = "runtime/test_metrics.py::"

QUERIES = Group(
    "O",
    "Interactive queries",
    (
        not_yet(270, "A store by its name", _QUERIES),
        not_yet(271, "One partition of a store; stale reads", _QUERIES),
        not_yet(272, "Kinds of stores that can be asked", _QUERIES),
        not_yet(273, "Results by partition with their position", _QUERIES),
        not_yet(274, "By key", _QUERIES),
        not_yet(275, "By range", _QUERIES),
        not_yet(276, "With timestamps", _QUERIES),
        not_yet(277, "As of a time", _QUERIES),
        not_yet(278, "All versions of a key", _QUERIES),
        not_yet(279, "Windows of a key", _QUERIES),
        not_yet(280, "Windows of all keys, sessions of a key", _QUERIES),
        not_yet(281, "Partitions to ask and what to say about it", _QUERIES),
        not_yet(282, "Positions: to read what one wrote", _QUERIES),
        not_yet(283, "Results and reasons of failure", _QUERIES),
        not_yet(284, "Queries of the user's own", _QUERIES),
        not_yet(285, "The address of an instance", _QUERIES),
    ),
)

METRICS = Group(
    "P",
    "Metrics",
    (
        passed(
            286,
            "Of the app: state, version, restarts",
            Tier.RUNTIME,
            f"{_MEASURED}test_prometheus_form_says_the_same",
            f"{_MEASURED}test_counters_go_on_over_a_restart",
            f"{_MEASURED}test_running_app_is_measured",
        ),
        decided(
            287,
            "Of threads",
            Tier.RUNTIME,
            "there are no stream threads: the parts of a batch are timed instead, in a histogram",
            f"{_MEASURED}test_prometheus_form_says_the_same",
        ),
        decided(
            288,
            "Of tasks",
            Tier.RUNTIME,
            "records left out are counted by reason, lateness by topic; of the app, not of each task",
            f"{_MEASURED}test_counters_go_on_over_a_restart",
            f"{_MEASURED}test_running_app_is_measured",
        ),
        decided(
            289,
            "Of restoring",
            Tier.SPARK,
            "state is not restored from topics; what RocksDB loads and replays is among its own figures",
            f"{_MEASURED}test_prometheus_form_says_the_same",
        ),
        not_yet(
            290,
            "Of steps",
            "age of results by topic; single steps are not counted",
            f"{_MEASURED}test_running_app_is_measured",
        ),
        passed(
            291,
            "Of topics: records and bytes, in and out",
            Tier.KERNEL,
            f"{_MEASURED}test_running_app_is_measured",
            f"{_MEASURED}test_prometheus_form_says_the_same",
        ),
        decided(
            292,
            "Of stores",
            Tier.RUNTIME,
            "entries, memory, files and commits of each operator's stores; reads and writes as RocksDB tells",
            f"{_MEASURED}test_running_app_is_measured",
            f"{_MEASURED}test_prometheus_form_says_the_same",
        ),
        passed(293, "Of RocksDB", Tier.RUNTIME, f"{_MEASURED}test_prometheus_form_says_the_same"),
        decided(294, "Of the cache", Tier.KERNEL, "the batch is the cache, and batches are measured"),
        decided(295, "Levels of recording", Tier.RUNTIME, "all metrics are cheap, so all are always on"),
        not_yet(296, "Metrics of the user's own", _METRICS),
        decided(
            297,
            "Reporters",
            Tier.RUNTIME,
            "Prometheus asks the app, or reads what `tidemill metrics` prints",
            f"{_MEASURED}test_metrics_are_served_on_loopback_under_its_own_names_only",
            "cli/test_metrics.py::test_all_apps_for_prometheus",
        ),
        decided(
            298,
            "A summary in the log",
            Tier.TOOLS,
            "`tidemill top` shows it live",
            "cli/test_metrics.py::test_top_once",
        ),
    ),
)

_DRIVER = "programs/test_word_count.py::test_words_are_counted_over_all_lines"

TESTING = Group(
    "Q",
    "Testing",
    (
        passed(
            299,
            "`TopologyTestDriver`: the real engine in the test's process",
            _TESTING,
            "conformance/test_tidemill.py::test_recorded_scenario",
            _DRIVER,
        ),
        passed(
            300,
            "`create_input_topic`, `pipe_input`, lists of values, pairs and records, times that advance",
            _TESTING,
            "programs/test_driver.py::test_driver_verbs",
        ),
        passed(
            301,
            "`create_output_topic`; single results, lists, maps, the size",
            _TESTING,
            "programs/test_driver.py::test_driver_verbs",
        ),
        passed(
            302,
            "`advance_wall_clock_time`",
            _TESTING,
            "punctuation_by_wall_clock_keeps_its_grid",
            "processor/test_processors.py::test_missing_data_alarm",
        ),
        passed(
            303,
            "Stores are looked into: key-value, window, session, versioned, all",
            _TESTING,
            "processor/test_processors.py::test_low_level_topology",
            "processor/test_processors.py::test_every_kind_of_store_can_be_looked_into",
            "processor/test_table_stores.py::test_stores_of_the_kernel_can_be_looked_into",
        ),
        passed(
            304,
            "Names of topics written to; metrics",
            _TESTING,
            "programs/test_driver.py::test_driver_verbs",
        ),
        passed(
            305,
            "`TestRecord`: key, value, headers, timestamp",
            _TESTING,
            "headers_pass_stateless_steps",
            _DRIVER,
        ),
        passed(
            306,
            "`MockProcessorContext`: a context to test a processor by itself",
            _TESTING,
            "processor/test_mock_context.py::test_what_a_processor_does_is_captured",
        ),
    ),
)

TOOLS = Group(
    "R",
    "Tools",
    (
        passed(
            307,
            "`tidemill app reset`",
            Tier.TOOLS,
            "runtime/test_reset.py::test_app_begins_where_the_flags_say",
            "runtime/test_reset.py::test_topics_have_their_part_in_a_reset",
            "runtime/test_reset.py::test_only_topics_of_its_own_are_deleted",
            "runtime/test_reset.py::test_dry_run_changes_nothing",
            "runtime/test_reset.py::test_reset_that_was_killed_is_finished",
        ),
        decided(
            308,
            "List, describe, move and delete groups",
            Tier.TOOLS,
            "an app is a consumer group to Kafka, so `tidemill groups` and every tool for groups does",
            "cli/test_groups.py::test_list_and_describe",
            "cli/test_groups.py::test_offsets_move_only_when_told",
            "cli/test_groups.py::test_delete",
            "runtime/test_group.py::test_group_shows_no_lag_when_all_is_done",
        ),
        decided(309, "The DSL in another language", Tier.FRONT_END, "Python is the language"),
    ),
)
