"""Configuration from code, the environment and files; secrets stay out of sight."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemill import StreamsBuilder, TopologyError, serdes
from tidemill.errors import NotFound, UsageError
from tidemill.runtime import App
from tidemill.runtime.config import KEYS, Guarantee, Latency
from tidemill.runtime.launch import with_slots
from tidemill.runtime.layers import load_config
from tidemill.runtime.streams_config import STREAMS_KEYS, Fate


def config(file=None, environ=None, **given):
    return load_config("app", given, file=file, environ=environ or {})


def test_default_is_exactly_once():
    assert config().guarantee is Guarantee.EXACTLY_ONCE
    assert config().commit_interval_ms == 100
    assert config().caching


def test_keywords_and_dotted_names_mean_the_same():
    assert config(commit_interval_ms=7) == config(config={"commit.interval.ms": "7"})


def test_code_wins_over_environment_and_file(tmp_path):
    file = tmp_path / "app.toml"
    file.write_text(
        'commit_interval_ms = 1\n[num.stream]\nthreads = 3\n[processing]\nguarantee = "at_least_once"\n'
    )
    environ = {"TIDEMILL_COMMIT_INTERVAL_MS": "2", "TIDEMILL_NUM_STREAM_THREADS": "4"}
    found = config(file=file, environ=environ, commit_interval_ms=5)
    assert (found.commit_interval_ms, found.master, found.guarantee) == (5, "local[4]", "at_least_once")


def test_cache_of_no_bytes_turns_caching_off():
    assert not config(statestore_cache_max_bytes=0).caching


def test_realtime_is_at_least_once():
    assert config(latency="realtime").guarantee is Guarantee.AT_LEAST_ONCE
    assert config(latency="realtime").latency is Latency.REALTIME
    with pytest.raises(UsageError, match="latency=realtime writes at least once"):
        config(latency="realtime", processing_guarantee="exactly_once_v2")


def test_unknown_setting_is_refused_with_the_near_one():
    with pytest.raises(UsageError, match="did you mean `commit"):
        config(commit_interval=5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"commit_interval_ms": "soon"}, "`soon` is not a value of `commit.interval.ms`"),
        ({"processing_guarantee": "twice"}, "exactly_once_v2 or at_least_once"),
        ({"num_stream_threads": 0}, "at least 1"),
        ({"auto_create_topics": "perhaps"}, "true or false"),
        ({"default.key.serde": "x"}, "give key= where a topic is read"),
        ({"default.timestamp.extractor": "x"}, "give timestamp= where a topic is read"),
    ],
)
def test_wrong_value_is_refused(given, said):
    with pytest.raises(UsageError, match=said):
        config(**given)


@pytest.mark.parametrize("name", ["", "a b", "..", "x" * 201, "a/b"])
def test_application_id_is_a_plain_name(name):
    with pytest.raises(UsageError, match="is not an application id"):
        load_config(name, {}, environ={})


def test_every_unneeded_key_is_accepted():
    given = {key.name: "1" for key in STREAMS_KEYS if key.fate is Fate.NOT_NEEDED}
    assert not config(config=given).settings


def test_handlers_are_chosen_by_name():
    kafka = "org.apache.kafka.streams.errors.LogAndContinueExceptionHandler"
    given = config(
        deserialization_exception_handler=kafka,
        processing_exception_handler="dead_letter",
        config={"processing.exception.handler.global.enabled": "false"},
    ).handlers
    assert (given.deserialization, given.processing, given.production) == ("continue", "dead_letter", "fail")
    assert given.topic == "app-dlq"
    named = config(
        production_exception_handler="dead_letter", errors_dead_letter_queue_topic_name="lost"
    ).handlers
    assert (named.topic, named.write_letters) == ("lost", True)
    assert not config().handlers.are_needed


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"processing_exception_handler": "my.Handler"}, "handlers of your own are not called"),
        ({"errors_dead_letter_queue_topic_name": "lost"}, "no handler writes dead letters"),
        ({"config": {"processing.exception.handler.global.enabled": "true"}}, "wrong everywhere"),
        (
            {"production_exception_handler": "dead_letter", "errors_dead_letter_queue_topic_name": "a b"},
            "a topic's name",
        ),
    ],
)
def test_handler_that_makes_no_sense_is_refused(given, said):
    with pytest.raises(UsageError) as refused:
        config(**given)
    assert said in str(refused.value)


def test_client_settings_reach_their_client():
    found = config(
        bootstrap_servers="k:9",
        config={"producer.linger.ms": "3", "consumer.fetch.min.bytes": "9", "request.timeout.ms": "77"},
    )
    producer, consumer = found.producer_client(), found.consumer_client()
    assert producer["client.id"] == consumer["client.id"] == "app"
    assert config(client_id="mill").consumer_client()["client.id"] == "mill"
    assert producer["linger.ms"] == "3"
    assert "fetch.min.bytes" not in producer
    assert consumer["fetch.min.bytes"] == "9"
    assert "linger.ms" not in consumer
    assert producer["request.timeout.ms"] == consumer["request.timeout.ms"] == "77"


def test_a_realtime_app_sends_at_once_and_plain_unless_told_otherwise():
    assert "linger.ms" not in config().producer_client()
    realtime = config(latency="realtime").producer_client()
    assert (realtime["linger.ms"], realtime["compression.type"]) == ("0", "none")
    told = config(latency="realtime", config={"producer.linger.ms": "7", "compression.type": "zstd"})
    assert (told.producer_client()["linger.ms"], told.producer_client()["compression.type"]) == ("7", "zstd")


def test_secret_is_resolved_late_and_never_shown(monkeypatch):
    monkeypatch.setenv("KAFKA_PW", "hunter2")
    for given in ("${env:KAFKA_PW}", "hunter2"):
        found = config(sasl_mechanism="PLAIN", sasl_username="u", sasl_password=given)
        assert "hunter2" not in repr(found)
        assert "hunter2" in found.producer_client()["sasl.jaas.config"]


def test_derived_names_of_stores_are_refused_when_asked():
    builder = StreamsBuilder()
    stream = builder.stream("in", key=serdes.string, value=serdes.string)
    stream.group_by_key().count().to_stream().to("out")
    settings = {"bootstrap_servers": "localhost:1"}
    App("lax", builder, **settings)
    with pytest.raises(TopologyError, match="name"):
        App("strict", builder, config={"ensure.explicit.internal.resource.naming": "true"}, **settings)


def test_metrics_are_off_and_on_loopback_unless_said():
    assert (config().metrics_port, config().metrics_host) == (None, "127.0.0.1")
    assert config(metrics_port=9464).metrics_port == 9464
    with pytest.raises(UsageError, match="at most 65535"):
        config(metrics_port=70000)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(NotFound, match="no such configuration file"):
        config(file=tmp_path / "none.toml")


def test_state_directory_may_be_a_uri():
    found = config(state_dir="hdfs://cluster/apps")
    assert found.checkpoint == "hdfs://cluster/apps/app/checkpoint"
    assert found.folder.name == "app"


def test_every_setting_is_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()
    assert [name for name in KEYS if f"`{name}`" not in page] == []


def test_no_key_has_two_fates():
    names = [key.name for key in STREAMS_KEYS]
    assert len(names) == len(set(names))


@pytest.mark.conformance
def test_every_key_of_kafka_streams_has_a_fate():
    """The real library is asked."""
    from oracle.jvm import streams

    real = {str(name) for name in streams("StreamsConfig").configDef().names()}
    known = {key.name for key in STREAMS_KEYS}
    assert len(real) > 50
    assert real - known == set()


@pytest.mark.parametrize(
    ("master", "tasks", "started"),
    [
        ("local[*]", 1, "local[4]"),
        ("local[*]", 6, "local[6]"),
        ("local[*]", 50, "local[8]"),
        ("local[2]", 50, "local[2]"),
        ("yarn", 50, "yarn"),
    ],
)
def test_two_tasks_share_a_core_unless_slots_are_given(monkeypatch, master, tasks, started):
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert with_slots(master, tasks) == started
