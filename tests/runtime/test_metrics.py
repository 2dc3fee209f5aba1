"""What an app measures: figures from reports, the same in Prometheus' form, over HTTP and in a file."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from runtime.broker import until
from runtime.topologies import word_count
from tidemill import StreamsBuilder, serdes
from tidemill.errors import NotFound, UsageError
from tidemill.runtime.exposition import MetricsServer, exposition
from tidemill.runtime.figures import FiguresFile, running_app, running_apps
from tidemill.runtime.lag import LagProbe
from tidemill.runtime.metrics import Metrics


def report(batch: int, *, read: int, end: int, latest: int, total_ms: int = 200, sent: int = 0) -> dict:
    """A report as Spark makes it; `read` and `sent` are counted by the kernel, since the query began."""
    counts = {"in": {"topic": "in", "records": read, "bytes": 100 * read, "latest": 1_700_000_000_000}}
    ages = {"out": {"records": sent, "bytes": 30 * sent, "ages": 50 * sent, "youngest": 20, "oldest": 90}}
    return {
        "batchId": batch,
        "numInputRows": read,
        "durationMs": {"triggerExecution": total_ms, "addBatch": total_ms // 2},
        "sources": [
            {
                "endOffset": {"in": {"0": end}},
                "latestOffset": {"in": {"0": latest}},
                "metrics": {"read": json.dumps(counts), "batchLimit": "20000"},
            }
        ],
        "sink": {"numOutputRows": sent, "metrics": {"sent": json.dumps(ages)}},
        "stateOperators": [
            {"numRowsTotal": 7, "memoryUsedBytes": 70, "customMetrics": {"rocksdbGetCount": 5, "other": 1}},
            {"numRowsTotal": 1, "memoryUsedBytes": 10},
        ],
    }


def samples(text: str) -> dict[tuple[str, ...], float]:
    return {
        (
            sample.name,
            *(value for name, value in sorted(sample.labels.items()) if name != "app"),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counters_go_on_over_a_restart():
    metrics = Metrics({2: ["counts"]}, depth=3)
    metrics.began({("in", 0): 100})
    metrics.finished([report(0, read=10, end=110, latest=110, sent=4)])
    metrics.finished([report(1, read=15, end=115, latest=130, sent=9)])
    metrics.ended({"late": 2})
    metrics.restarted("QUERY_FAILED")
    metrics.began()
    metrics.finished([report(2, read=5, end=120, latest=130, sent=1)])
    figures = metrics.snapshot({"late": 1, "null_key": 3})
    assert figures["topics_in"]["in"]["records"] == 20
    assert figures["bytes_in"] == 2000
    assert figures["topics_out"]["out"]["records"] == 10
    assert figures["dropped"] == {"late": 3, "null_key": 3}
    assert (figures["restarts"], figures["restarts_by_cause"]) == (1, {"QUERY_FAILED": 1})
    assert figures["lag"] == 10
    metrics.ends({("in", 0): 150})
    assert metrics.snapshot()["lag"] == 30, "an app that makes no reports falls behind all the same"
    assert metrics.snapshot()["partitions"][0]["position"] == 120
    assert [each["stores"] for each in figures["state_operators"]] == [[], ["counts"]]
    assert [(each["level"], each["rows"]) for each in figures["state_operators"]] == [(1, 1), (2, 7)]


def test_prometheus_form_says_the_same():
    metrics = Metrics({1: ["counts"]})
    reports = (
        report(0, read=10, end=10, latest=12, sent=4),
        report(1, read=12, end=12, latest=12, total_ms=7000, sent=4),
    )
    metrics.finished(reports)
    figures = {"app": "a", "state": "RUNNING", "latency": "throughput", **metrics.snapshot({"late": 1})}
    found = samples(exposition([figures]))
    assert found["tidemill_app_state", "RUNNING"] == 1
    assert found["tidemill_app_state", "ERROR"] == 0
    assert found["tidemill_records_consumed_total", "in"] == 12
    assert found["tidemill_records_produced_total", "out"] == 4
    assert found["tidemill_consumer_lag_records", "0", "in"] == 0
    assert found["tidemill_records_dropped_total", "late"] == 1
    assert found["tidemill_state_rows", "1", "counts"] == 7
    assert found["tidemill_rocksdb_get_count", "1", "counts"] == 5
    assert found["tidemill_bytes_produced_total",] == 120
    assert found["tidemill_record_e2e_latency_seconds_sum", "out"] == pytest.approx(0.2)
    total = {
        key[1]: value for key, value in found.items() if key[0] == "tidemill_batch_duration_seconds_bucket"
    }
    assert total["0.25"] >= 1
    assert found["tidemill_batch_duration_seconds_count", "total"] == 2
    assert found["tidemill_batch_duration_seconds_sum", "total"] == pytest.approx(7.2)


def test_two_apps_share_families():
    text = exposition([{"app": name, "state": "RUNNING", "batches": 1} for name in ("a", "b")])
    assert text.count("# TYPE tidemill_batches_total") == 1
    assert 'tidemill_batches_total{app="b"} 1.0' in text


def test_metrics_are_served_on_loopback_under_its_own_names_only():
    server = MetricsServer("127.0.0.1", 0, lambda: {"app": "a", "state": "RUNNING", "batches": 3})
    try:
        url = f"http://{server.address}/metrics"
        assert b"tidemill_batches_total" in urllib.request.urlopen(url, timeout=5).read()
        foreign = urllib.request.Request(url, headers={"Host": "evil.example:80"})
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(foreign, timeout=5)
        with pytest.raises(UsageError, match="cannot be served"):
            MetricsServer("127.0.0.1", int(server.address.rpartition(":")[2]), dict)
    finally:
        server.close()


def test_figures_of_a_dead_process_are_not_shown(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "app.json").write_text("{}")
    file = FiguresFile(folder)
    file.keep(lambda: {"app": "a", "state": "RUNNING"})
    assert [each["app"] for each in running_apps(tmp_path)] == ["a"]
    path = folder / "metrics.json"
    data = json.loads(path.read_text())
    data["process"][1] += 1
    path.write_text(json.dumps(data))
    assert running_apps(tmp_path) == []
    with pytest.raises(NotFound, match="no app `a` runs here"):
        running_app("a", tmp_path)
    file.remove()
    file.remove()


def test_running_app_is_measured(make_app, broker, topic, tmp_path):
    """One app, seen from inside, over HTTP and through its file; all say what was really done."""
    lines, counts = topic("lines", partitions=2), topic("counts")
    broker.produce(lines, [{"value": "a b a", "partition": n % 2} for n in range(40)])
    app = make_app(word_count(lines, counts), metrics_port=0, max_offsets_per_trigger=20)
    with app:
        until(lambda: app.metrics()["records_in"] == 40, seconds=90)
        figures = app.metrics()
        url = f"http://{app.metadata()['metrics']}/metrics"
        found = samples(urllib.request.urlopen(url, timeout=10).read().decode())
        until(lambda: running_app(app.application_id, tmp_path / "state")["records_in"] == 40)
    written = len(broker.read(counts))
    assert figures["batches"] >= 2
    assert figures["topics_out"][counts]["records"] == written == figures["records_out"]
    assert 0 < figures["topics_out"][counts]["age_ms_min"] <= figures["topics_out"][counts]["age_ms_max"]
    assert figures["bytes_in"] > 40 * len("a b a")
    assert figures["state_operators"][-1]["stores"] == ["counts"]
    assert figures["state_operators"][-1]["rows"] == 2
    assert figures["lag"] == 0
    assert {(part["topic"], part["partition"]) for part in figures["partitions"]} == {(lines, 0), (lines, 1)}
    assert found["tidemill_records_consumed_total", lines] == 40
    assert found["tidemill_records_produced_total", counts] == written
    assert found["tidemill_consumer_lag_records", "1", lines] == 0
    assert app.metadata()["metrics"] is None
    assert running_apps(tmp_path / "state") == []


def test_rows_of_state_are_counted_whichever_partitions_a_batch_touches(make_app, broker, topic):
    source, target = topic("in", partitions=2), topic("out")
    builder = StreamsBuilder()
    table = builder.table(source, key=serdes.string, value=serdes.string, store="rows")
    table.to_stream().to(target, key=serdes.string, value=serdes.string)
    app_id = None

    def rows_after(*records: tuple[str, str | None, int]) -> int:
        nonlocal app_id
        broker.produce(source, [{"key": k, "value": v, "partition": p} for k, v, p in records])
        app = make_app(builder, **({"application_id": app_id} if app_id else {}))
        app_id = app.application_id
        app.run(until="now")
        return app.metrics()["state_operators"][-1]["rows"]

    assert rows_after(("a", "1", 0), ("b", "1", 0), ("c", "1", 1), ("c", "2", 1)) == 3
    assert rows_after(("d", "1", 1), ("c", "3", 1)) == 4
    assert rows_after(("a", None, 0), ("e", "1", 0), ("e", None, 0), ("never", None, 0)) == 3
    assert rows_after(("a", "2", 0)) == 4


def test_lag_is_asked_from_kafka(broker, topic):
    """In records and in seconds, whatever the app itself does."""
    name = topic("in", partitions=2)
    broker.produce(name, [{"value": str(n), "partition": 0, "timestamp": 1000 + n} for n in range(5)])
    probe = LagProbe(broker.admin, interval=1, committed_only=True)
    assert probe.look({(name, 0): 2, (name, 1): 0}) == {(name, 0): 5, (name, 1): 0}
    import time

    assert probe.seconds(name, 0, 2, 3) == pytest.approx(time.time() - 1.002, abs=5)
    assert probe.seconds(name, 1, 0, 0) == 0
    assert probe.seconds(name, 0, 1, 4) is None, "not known for an earlier record"
