"""Group S: the keys of StreamsConfig."""

from conformance.parity.model import Group, Tier, decided, not_yet, passed

_RUNTIME, _SPARK, _FRONT = Tier.RUNTIME, Tier.SPARK, Tier.FRONT_END
_CONFIG = "runtime/test_config.py::"
_UNNEEDED = f"{_CONFIG}test_every_unneeded_key_is_accepted"
_CLIENTS = f"{_CONFIG}test_client_settings_reach_their_client"
_ASSIGNS = "taken and not needed: Spark places tasks and restores state"
_METRICS = "taken and not needed: metrics are Tidemill's own"
_ONE_STORE = "taken and not needed: state is always in RocksDB, in one format"
_HANDLERS = "fail, continue or dead_letter, and the names of Kafka Streams' own classes; no others are loaded"
_CHOSEN = (
    f"{_CONFIG}test_handlers_are_chosen_by_name",
    "handlers/test_kafka.py::test_bad_records_are_set_aside_and_good_ones_written",
)

SETTINGS = Group(
    "S",
    "Settings",
    (
        passed(
            310,
            "`application.id`",
            _RUNTIME,
            f"{_CONFIG}test_application_id_is_a_plain_name",
            "runtime/test_group.py::test_group_shows_no_lag_when_all_is_done",
        ),
        passed(311, "`bootstrap.servers`", _RUNTIME, "runtime/test_records.py::test_word_count_is_exact"),
        decided(312, "`num.standby.replicas`", _SPARK, _ASSIGNS, _UNNEEDED),
        decided(
            313,
            "`processing.exception.handler.global.enabled`",
            _RUNTIME,
            "false only: a global store that is wrong would be wrong in every task",
            f"{_CONFIG}test_handlers_are_chosen_by_name",
        ),
        passed(
            314,
            "`state.dir`",
            _RUNTIME,
            f"{_CONFIG}test_state_directory_may_be_a_uri",
            "runtime/test_lifecycle.py::test_second_instance_with_another_state_directory_is_refused",
        ),
        passed(
            315,
            "`ensure.explicit.internal.resource.naming`",
            _RUNTIME,
            f"{_CONFIG}test_derived_names_of_stores_are_refused_when_asked",
            "topology/test_validation.py::test_messages",
        ),
        decided(316, "`acceptable.recovery.lag`", _SPARK, _ASSIGNS, _UNNEEDED),
        decided(
            317,
            "`statestore.cache.max.bytes`",
            _RUNTIME,
            "0 sends every update; any other size means one update per key and batch",
            f"{_CONFIG}test_cache_of_no_bytes_turns_caching_off",
        ),
        passed(318, "`client.id`", _RUNTIME, _CLIENTS),
        decided(319, "`deserialization.exception.handler`", _RUNTIME, _HANDLERS, *_CHOSEN),
        decided(
            320,
            "`default.key.serde`, `default.value.serde`",
            _FRONT,
            "refused: a serde is given where a topic is read or written",
            f"{_CONFIG}test_wrong_value_is_refused",
        ),
        decided(321, "`production.exception.handler`", _RUNTIME, _HANDLERS, *_CHOSEN),
        not_yet(322, "`default.timestamp.extractor`", "refused; `timestamp=` of a source is not run yet"),
        passed(
            323,
            "`errors.dead.letter.queue.topic.name`",
            _RUNTIME,
            f"{_CONFIG}test_handlers_are_chosen_by_name",
            "handlers/test_kafka.py::test_letter_too_large_for_its_topic_loses_its_value",
        ),
        decided(324, "`max.task.idle.ms`", _SPARK, "taken and not needed: a batch does not wait", _UNNEEDED),
        decided(325, "`max.warmup.replicas`", _SPARK, _ASSIGNS, _UNNEEDED),
        passed(326, "`num.stream.threads`", _RUNTIME, f"{_CONFIG}test_code_wins_over_environment_and_file"),
        decided(327, "`processing.exception.handler`", _RUNTIME, _HANDLERS, *_CHOSEN),
        decided(
            328,
            "`processing.guarantee`",
            _RUNTIME,
            "exactly_once_v2 by default: it costs little here",
            f"{_CONFIG}test_default_is_exactly_once",
            f"{_CONFIG}test_wrong_value_is_refused",
        ),
        decided(329, "`task.assignor.class`", _SPARK, _ASSIGNS, _UNNEEDED),
        passed(
            330,
            "`replication.factor`",
            _RUNTIME,
            "runtime/test_lifecycle.py::test_created_topics_have_the_replicas_asked_for",
        ),
        passed(
            331,
            "`security.protocol` and what belongs to it",
            _RUNTIME,
            "runtime/test_security.py::test_app_writes_exactly_once_through_every_door",
            "runtime/test_security.py::test_wrong_password_is_refused_at_once",
            f"{_CONFIG}test_secret_is_resolved_late_and_never_shown",
        ),
        decided(332, "`task.timeout.ms`", _RUNTIME, "taken and not needed: `restart.limit` does", _UNNEEDED),
        decided(333, "`topology.optimization`", _SPARK, "taken and not needed: there is one plan", _UNNEEDED),
        decided(334, "`group.protocol`", _SPARK, "taken and not needed: there is no membership", _UNNEEDED),
        decided(
            335,
            "`allow.os.group.write.access`",
            _RUNTIME,
            "taken and not needed: the state directory is the user's alone",
            _UNNEEDED,
        ),
        decided(
            336,
            "`application.server`",
            _RUNTIME,
            "taken and not needed: a query server knows its own address",
            _UNNEEDED,
        ),
        decided(
            337,
            "`buffered.records.per.partition`",
            _SPARK,
            "taken and not needed: a batch is bounded by time, memory and `max.offsets.per.trigger`",
            _UNNEEDED,
            "runtime/test_pace.py::test_large_records_are_bounded_by_memory",
        ),
        decided(338, "`built.in.metrics.version`", _SPARK, _METRICS, _UNNEEDED),
        decided(
            339,
            "`commit.interval.ms`",
            _RUNTIME,
            "how often a batch begins; 100 whatever the guarantee",
            f"{_CONFIG}test_default_is_exactly_once",
            f"{_CONFIG}test_keywords_and_dotted_names_mean_the_same",
        ),
        decided(
            340,
            "`config.providers`",
            _RUNTIME,
            "taken and not needed: `${env:..}`, `${file:..}` and `${dir:..}` work in every value",
            "kafka_clients/test_settings.py::test_placeholders_are_resolved_last",
        ),
        decided(341, "`enable.metrics.push`", _SPARK, _METRICS, _UNNEEDED),
        decided(342, "`rack.aware.assignment.*`", _SPARK, _ASSIGNS, _UNNEEDED),
        decided(
            343,
            "`repartition.purge.interval.ms`",
            _SPARK,
            "taken and not needed: there are no repartition topics",
            _UNNEEDED,
        ),
        decided(344, "`default.dsl.store`, `dsl.store.suppliers.class`", _SPARK, _ONE_STORE, _UNNEEDED),
        decided(345, "`dsl.store.format`", _SPARK, _ONE_STORE, _UNNEEDED),
        decided(346, "`default.client.supplier`", _SPARK, "refused: clients are made from settings"),
        decided(
            347,
            "`log.summary.interval.ms`",
            _RUNTIME,
            "taken and not needed: `metrics()` tells at any time",
            _UNNEEDED,
        ),
        passed(348, "Settings of the clients: times, retries, buffers", _RUNTIME, _CLIENTS),
        decided(349, "`metrics.*`, `metric.reporters`", _SPARK, _METRICS, _UNNEEDED),
        decided(350, "`poll.ms`", _SPARK, "taken and not needed: Spark polls", _UNNEEDED),
        decided(351, "`probing.rebalance.interval.ms`", _SPARK, _ASSIGNS, _UNNEEDED),
        decided(
            352,
            "`processor.wrapper.class`",
            _FRONT,
            "refused: steps of the DSL are no objects to wrap but generated code",
        ),
        decided(
            353,
            "`rocksdb.config.setter`",
            _SPARK,
            "refused: settings under `spark.sql.streaming.stateStore.rocksdb.` do",
        ),
        decided(
            354,
            "`state.cleanup.delay.ms`",
            _SPARK,
            "taken and not needed: Spark removes old state files",
            _UNNEEDED,
        ),
        decided(
            355,
            "`state.cleanup.dir.max.age.ms`",
            _SPARK,
            "taken and not needed: Spark removes old state files",
            _UNNEEDED,
        ),
        decided(356, "`upgrade.from`", _SPARK, "taken and not needed: there are no rebalances", _UNNEEDED),
        decided(
            357,
            "`windowstore.changelog.additional.retention.ms`",
            _SPARK,
            "taken and not needed: a changelog keeps a day more, and `logging=` may say else",
            _UNNEEDED,
        ),
        decided(
            358,
            "`window.size.ms`, `windowed.inner.class.serde`",
            _FRONT,
            "taken and not needed: a windowed serde is made with both",
            _UNNEEDED,
        ),
        decided(
            359,
            "Prefixes of client settings",
            _RUNTIME,
            "`consumer.`, `main.consumer.`, `producer.` and `admin.` reach their clients; there is no "
            "restore or global consumer, and no internal topic, to be set up",
            _CLIENTS,
        ),
    ),
)
