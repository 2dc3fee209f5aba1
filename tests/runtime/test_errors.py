"""Failures of Kafka, Spark and users' functions, told so that one knows what to do."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from runtime.broker import until
from runtime.topologies import echo
from tidemill import StreamsBuilder, serdes
from tidemill.engine.failures import query_failure
from tidemill.errors import NotFound, TidemillError
from tidemill.runtime import App, State


def failed(app: App) -> TidemillError:
    with pytest.raises(TidemillError) as raised:
        app.run(until="now")
    assert app.state is State.ERROR
    return raised.value


def test_record_too_large_names_the_topic(make_app, broker, topic):
    source, target = topic("in"), topic("out", config={"max.message.bytes": "2000"})
    broker.produce(source, [{"value": bytes(range(256)) * 40}])
    settings = {"config": {"producer.compression.type": "none"}}
    error = failed(make_app(echo(source, target), **settings))
    assert error.code == "PRODUCTION"
    assert f"a record is too large for topic `{target}`" in str(error)


def test_unknown_topic_of_a_row_is_named(make_app, broker, topic):
    source = topic("in")
    builder = StreamsBuilder()
    builder.stream(source, key=serdes.string, value=serdes.string).to(lambda key, value: F.lit("not-there"))
    broker.produce(source, [{"value": "x"}])
    error = failed(make_app(builder, config={"producer.max.block.ms": "1500"}))
    assert isinstance(error, NotFound)
    assert "topic `not-there` does not exist" in str(error)


def test_mistake_in_a_function_is_told_without_a_trace(make_app, broker, topic):
    source, target = topic("in"), topic("out")
    builder = StreamsBuilder()
    stream = builder.stream(source, key=serdes.string, value=serdes.string)
    stream.map_values(lambda value: F.raise_error(F.concat(F.lit("bad value "), value)).cast("string")).to(
        target
    )
    broker.produce(source, [{"value": "x7"}])
    error = failed(make_app(builder, restart_limit=1))
    assert "bad value x7" in str(error)
    assert "\tat " not in str(error)


def test_broker_that_comes_back_is_waited_for(kafka_cluster, spark, tmp_path):
    from runtime.broker import Broker

    cluster = kafka_cluster(1)
    broker = Broker(cluster)
    broker.admin.create("in", partitions=1)
    settings = {"bootstrap_servers": broker.servers, "state_dir": tmp_path, "spark": spark, "tasks": 1}
    with App("patient", echo("in", "out"), **settings) as app:
        broker.produce("in", [{"value": "1"}])
        until(lambda: len(broker.read("out")) == 1)
        cluster.kill()
        assert not app.wait(1)
        cluster.start_broker()
        broker.produce("in", [{"value": "2"}])
        until(lambda: len(broker.read("out")) == 2, 60)
    assert [read.value for read in broker.read("out")] == [b"1", b"2"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("io.tidemill.sink.SinkError: [FENCED] another instance of this application", "FENCED"),
        ("io.tidemill.sink.SinkError: [UNREACHABLE] Kafka did not answer", "UNREACHABLE"),
        ("io.tidemill.sink.SinkError: [DENIED] not authorised to write to topic `t`", "DENIED"),
        ("org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed", "DENIED"),
        ("org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized", "DENIED"),
        ("org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node", "UNREACHABLE"),
        ("[KAFKA_DATA_LOSS.PARTITIONS_DELETED] Some data may ...\nReason: Partitions t-0", "OFFSETS_LOST"),
        ("[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log. Multiple streaming jobs", "FENCED"),
        ("java.io.IOException: No space left on device", "DISK_FULL"),
        ("something else", "QUERY_FAILED"),
    ],
)
def test_texts_are_told_apart(text, code):
    assert query_failure(RuntimeError(text)).code == code


def test_end_of_the_jvm_is_told():
    assert query_failure(ConnectionRefusedError(111, "Connection refused")).code == "ENGINE_GONE"
