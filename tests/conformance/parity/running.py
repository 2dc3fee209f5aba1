"""Groups L, M and N: delivery, the app's life, errors."""

from conformance.parity.model import Group, Tier, decided, not_yet, passed

_RUNTIME, _KERNEL, _SPARK = Tier.RUNTIME, Tier.KERNEL, Tier.SPARK
_ONCE = "runtime/test_exactly_once.py::"
_DRIVER = "handlers/test_driver.py::"
_LETTERS = "handlers/test_kafka.py::"
_LIFE = "runtime/test_lifecycle.py::"
_UNNEEDED = "runtime/test_config.py::test_every_unneeded_key_is_accepted"
_ASSIGNS = "Spark places tasks and moves them by itself"
_RESTORES = "any worker restores state from the checkpoint"

DELIVERY = Group(
    "L",
    "Delivery, faults, scale",
    (
        passed(
            223,
            "At least once",
            _RUNTIME,
            f"{_ONCE}test_at_least_once_loses_nothing",
            "runtime/test_records.py::test_record_is_kept_whole",
        ),
        passed(
            224,
            "Exactly once",
            _KERNEL,
            f"{_ONCE}test_batch_that_failed_is_replayed_once",
            f"{_ONCE}test_aborted_records_are_there_for_careless_readers_only",
            f"{_ONCE}test_kill_loses_and_doubles_nothing",
        ),
        decided(
            225,
            "State after an unclean end",
            _SPARK,
            "nothing is wiped: the checkpoint has the state of the last finished batch",
            f"{_ONCE}test_kill_loses_and_doubles_nothing",
        ),
        passed(
            226,
            "A zombie is fenced",
            _KERNEL,
            "runtime/test_fencing.py::test_older_instance_is_fenced",
            "runtime/test_fencing.py::test_second_instance_elsewhere_is_refused",
        ),
        decided(
            227,
            "Tasks that broke or moved away",
            _SPARK,
            "Spark runs a failed task again, and the app its query",
            f"{_ONCE}test_error_handler_decides",
            "runtime/test_fencing.py::test_instance_taken_for_dead_comes_back_by_itself",
            "cluster/test_standalone.py::test_executor_killed_in_a_batch_loses_and_doubles_nothing",
        ),
        decided(
            228,
            "How long a task is tried again",
            _RUNTIME,
            "`restart.limit` and `restart.backoff.ms` say how often a failed query is tried again",
            "runtime/test_errors.py::test_broker_that_comes_back_is_waited_for",
            _UNNEEDED,
        ),
        passed(
            229,
            "`num.stream.threads`",
            _RUNTIME,
            "runtime/test_config.py::test_code_wins_over_environment_and_file",
        ),
        decided(230, "Standby replicas", _SPARK, _RESTORES, _UNNEEDED),
        decided(231, "Standbys on other racks", _SPARK, _ASSIGNS, _UNNEEDED),
        decided(232, "Replicas that warm up", _SPARK, _RESTORES, _UNNEEDED),
        decided(233, "Task assignors", _SPARK, _ASSIGNS, _UNNEEDED),
        decided(
            234, "Group protocols", _SPARK, "there is no membership: Spark assigns partitions", _UNNEEDED
        ),
        decided(235, "Static membership", _SPARK, "there is no membership: Spark assigns partitions"),
        decided(
            236, "Repartition topics are purged", _SPARK, "records change partitions inside Spark", _UNNEEDED
        ),
        passed(237, "One process per state directory", _RUNTIME, f"{_LIFE}test_second_instance_is_refused"),
        decided(
            238, "Old local state is wiped", _SPARK, "Spark removes old state files by itself", _UNNEEDED
        ),
        decided(
            239,
            "The number of a topic's partitions changes",
            _RUNTIME,
            "the app goes on, where Kafka Streams stops: new partitions are read, and keys keep their task",
            "runtime/test_reading.py::test_added_partitions_are_read_and_state_is_found",
        ),
        decided(
            240, "Rolling upgrades", _SPARK, "there is no rebalance whose format could change", _UNNEEDED
        ),
    ),
)

APP = Group(
    "M",
    "The app",
    (
        passed(
            241,
            "`App(id, builder, **settings)`",
            _RUNTIME,
            f"{_LIFE}test_plan_and_topology_can_be_read",
            "runtime/test_config.py::test_keywords_and_dotted_names_mean_the_same",
        ),
        passed(242, "`start()`, `run()`", _RUNTIME, f"{_LIFE}test_bounded_run_ends_by_itself"),
        passed(
            243,
            "`stop(timeout)` finishes the batch",
            _RUNTIME,
            f"{_LIFE}test_stopped_app_goes_on_where_it_was",
            f"{_LIFE}test_app_that_was_never_started_stops",
            "cli/test_app.py::test_an_app_is_run_watched_stopped_and_restarted",
        ),
        decided(
            244,
            "`clean_up()`",
            _RUNTIME,
            "wipes the state and keeps offsets, as in Kafka Streams; stores begin empty, since state is in"
            " the checkpoint and not in changelogs",
            "runtime/test_reset.py::test_app_begins_where_the_flags_say",
        ),
        decided(
            245,
            "States of an app",
            _RUNTIME,
            "CREATED, STARTING, RUNNING, PAUSED, STOPPING, STOPPED, ERROR: there are no rebalances to be in",
            f"{_LIFE}test_listeners_see_every_state",
        ),
        passed(246, "`on_state_change(listener)`", _RUNTIME, f"{_LIFE}test_listeners_see_every_state"),
        decided(
            247,
            "Threads are added and removed",
            _SPARK,
            "a running query's slots are Spark's: dynamic allocation on a cluster, a restart on one machine",
        ),
        passed(248, "`pause()`, `resume()`", _RUNTIME, f"{_LIFE}test_paused_app_does_nothing_until_resumed"),
        passed(
            249,
            "`on_error(handler)`: replace or shut down",
            _RUNTIME,
            f"{_ONCE}test_error_handler_decides",
        ),
        decided(250, "Listeners of restoring", _SPARK, "state is opened from the checkpoint, not replayed"),
        decided(251, "Listeners of standbys", _SPARK, "there are none"),
        decided(
            252,
            "What threads and tasks are at",
            _RUNTIME,
            "threads are Spark's, and tasks have no life of their own; `metadata()` tells how many, "
            "and of each partition what is committed and where it ends",
            f"{_LIFE}test_metadata_tells_how_far_each_partition_is",
        ),
        not_yet(253, "Which instance has a store", "comes with queries"),
        not_yet(254, "Which instance has a key", "comes with queries"),
        not_yet(255, "How far behind a store is", "comes with queries"),
        passed(256, "`metrics()`", _RUNTIME, f"{_LIFE}test_bounded_run_ends_by_itself"),
        decided(257, "Ids for telemetry", _SPARK, "Spark's clients are not ours to ask"),
        decided(
            258, "Clients of the user's own", _SPARK, "Spark and the sink make their clients from settings"
        ),
    ),
)

ERRORS = Group(
    "N",
    "Errors",
    (
        passed(
            259,
            "Records that cannot be read: fail or go on",
            _KERNEL,
            f"{_DRIVER}test_broken_bytes_fail_the_query_by_default",
            f"{_DRIVER}test_records_fail_alone_without_state",
            f"{_LETTERS}test_records_left_out_are_counted",
            f"{_LETTERS}test_broken_record_stops_the_app",
        ),
        decided(
            260,
            "Records that cannot be written: fail, go on or try again",
            _KERNEL,
            "fail or go on; Kafka's client tries again by itself until delivery.timeout.ms",
            f"{_LETTERS}test_bad_records_are_set_aside_and_good_ones_written",
            f"{_DRIVER}test_what_has_no_bytes_is_set_aside",
        ),
        passed(
            261,
            "Records that cannot be processed: fail or go on",
            _KERNEL,
            f"{_DRIVER}test_failed_function_is_named_with_its_record",
            f"{_DRIVER}test_records_fail_alone_behind_a_shuffle",
            f"{_DRIVER}test_records_fail_alone_in_python",
        ),
        decided(
            262,
            "The same for global stores",
            _RUNTIME,
            "broken bytes of a global table are handled; a processor that keeps a global store fails the app",
            f"{_DRIVER}test_global_table_with_broken_bytes",
        ),
        decided(
            263,
            "What a handler is told",
            _RUNTIME,
            "handlers are chosen, not called; all there is to know is in the headers of the dead letter",
            f"{_DRIVER}test_handlers_that_make_no_sense_are_refused",
        ),
        passed(
            264,
            "Dead letters",
            _KERNEL,
            f"{_LETTERS}test_bad_records_are_set_aside_and_good_ones_written",
            f"{_LETTERS}test_failed_batch_writes_no_letters",
        ),
        passed(265, "Headers of dead letters", _KERNEL, f"{_DRIVER}test_records_fail_alone_without_state"),
        decided(
            266,
            "Dead letters of a handler's own",
            _RUNTIME,
            "handlers are chosen, not called",
            f"{_DRIVER}test_handlers_that_make_no_sense_are_refused",
        ),
        not_yet(267, "Errors of queries", "comes with queries"),
        passed(
            268,
            "Errors have a code, a place and a remedy",
            _RUNTIME,
            "topology/test_validation.py::test_refusal_names_the_users_line_and_a_remedy",
            "engine_errors/test_functions.py::test_unknown_field_lists_the_fields_there_are",
            "runtime/test_errors.py::test_mistake_in_a_function_is_told_without_a_trace",
            "runtime/test_errors.py::test_texts_are_told_apart",
            f"{_LIFE}test_changed_topology_is_refused",
        ),
        passed(
            269,
            "Missing source topics",
            _RUNTIME,
            f"{_LIFE}test_missing_source_topic_is_named",
            "runtime/test_reading.py::test_topic_that_goes_away_is_named",
        ),
    ),
)
