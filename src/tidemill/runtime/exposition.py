"""An app's figures in Prometheus' form, and the small server that answers its scrapes."""

from __future__ import annotations

import ipaddress
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from tidemill._version import __version__
from tidemill.errors import UsageError
from tidemill.runtime.state import State

if TYPE_CHECKING:
    from prometheus_client.core import Metric

log = logging.getLogger(__name__)

Figures = Mapping[str, Any]
"""What `App.metrics()` returns."""


def exposition(apps: Iterable[Figures]) -> str:
    """The figures of apps as Prometheus' text.

    >>> print(exposition([{"app": "copier", "state": "RUNNING", "batches": 3}]).splitlines()[-1])
    tidemill_batches_total{app="copier"} 3.0
    """
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    registry.register(_Collector(lambda: list(apps)))
    return generate_latest(registry).decode()


class MetricsServer:
    """Answers `GET /metrics` with an app's figures. Listens on loopback unless told otherwise."""

    def __init__(self, host: str, port: int, figures: Callable[[], Figures]) -> None:
        from prometheus_client import CollectorRegistry, make_wsgi_app

        registry = CollectorRegistry()
        registry.register(_Collector(lambda: [figures()]))
        answer = make_wsgi_app(registry)
        try:
            self._server = make_server(
                host, port, _guarded(answer, host), server_class=_Threads, handler_class=_Quiet
            )
        except OSError as error:
            raise UsageError(
                f"the metrics cannot be served on {host}:{port}: {error.strerror}",
                where="metrics.port",
                remedy="choose another port; 0 lets the system choose",
            ) from error
        self.address = f"{host}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, name="tidemill-metrics", daemon=True).start()
        log.info("metrics on http://%s/metrics", self.address)

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()


class _Threads(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_args: object) -> None:
        return


def _guarded(answer: Any, host: str) -> Any:
    """On loopback only names of loopback are answered to: a web page must not reach us by its own name."""
    local = _is_loopback(host)

    def app(environ: dict[str, Any], start_response: Any) -> Any:
        named = str(environ.get("HTTP_HOST", "")).rpartition(":")[0] or str(environ.get("HTTP_HOST", ""))
        if local and named and not _is_loopback(named.strip("[]")):
            start_response("403 Forbidden", [("Content-Type", "text/plain")])
            return [b"this address answers on loopback only\n"]
        return answer(environ, start_response)

    return app


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Collector:
    """Makes Prometheus' families of figures, at each scrape."""

    def __init__(self, apps: Callable[[], list[Figures]]) -> None:
        self._apps = apps

    def collect(self) -> Iterator[Metric]:
        """All families, each with the samples of all apps."""
        apps = self._apps()
        yield from _about(apps)
        for make in (_plain, _topics, _lag, _batches, _state):
            yield from make(apps)


def _counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Any:
    from prometheus_client.core import CounterMetricFamily

    return CounterMetricFamily(f"tidemill_{name}", text, labels=("app", *labels))


def _gauge(name: str, text: str, labels: tuple[str, ...] = ()) -> Any:
    from prometheus_client.core import GaugeMetricFamily

    return GaugeMetricFamily(f"tidemill_{name}", text, labels=("app", *labels))


def _about(apps: list[Figures]) -> Iterator[Metric]:
    info = _gauge("app_info", "What the app is; always 1.", ("version", "guarantee", "latency"))
    state = _gauge("app_state", "1 for the state the app is in, 0 for all others.", ("state",))
    for app in apps:
        known = (__version__, app.get("processing_guarantee", ""), app.get("latency", ""))
        info.add_metric((app["app"], *known), 1)
        for each in State:
            state.add_metric((app["app"], str(each)), float(app.get("state") == each))
    yield info
    yield state


def _plain(apps: list[Figures]) -> Iterator[Metric]:
    counters = {
        "batches": ("batches", "Finished batches."),
        "records_in": ("batch_input_rows", "Records of finished batches."),
        "records_out": ("batch_output_rows", "Records written by finished batches."),
        "bytes_in": ("bytes_consumed", "Bytes of the rows that were read."),
        "bytes_out": ("bytes_produced", "Bytes of keys and values that were written."),
    }
    gauges = {
        "started": ("app_start_timestamp_seconds", "When the app was started."),
        "last_progress": ("last_progress_timestamp_seconds", "When a batch was last known to be finished."),
        "batch_limit": ("batch_limit_records", "The most records the next batch takes."),
        "stream_time_delay_seconds": ("watermark_delay_seconds", "Age of the newest record that was read."),
    }
    for makes, table in ((_counter, counters), (_gauge, gauges)):
        for key, (name, text) in table.items():
            yield _filled(makes(name, text), ((app, app.get(key)) for app in apps))
    by = {
        "dropped": ("records_dropped", "Records left out.", "reason"),
        "restarts_by_cause": ("query_restarts", "Restarts of the query by the code of the error.", "cause"),
        "dead_letters": ("dlq_records", "Records that failed and were set aside as dead letters.", "kind"),
        "skipped": ("records_skipped", "Records that failed and were left out.", "kind"),
    }
    for key, (name, text, label) in by.items():
        family = _counter(name, text, (label,))
        for app in apps:
            found = app.get(key)
            for value, count in found.items() if isinstance(found, Mapping) else ():
                if isinstance(count, int | float):
                    family.add_metric((app["app"], value), count)
        yield family


def _topics(apps: list[Figures]) -> Iterator[Metric]:
    from prometheus_client.core import SummaryMetricFamily

    consumed = _counter("records_consumed", "Records read from a topic.", ("topic",))
    size = _counter("topic_bytes_consumed", "Bytes of the rows that were read from a topic.", ("topic",))
    produced = _counter("records_produced", "Records written to a topic.", ("topic",))
    written = _counter("topic_bytes_produced", "Bytes of keys and values written to a topic.", ("topic",))
    skew = _gauge("event_time_skew_seconds", "Age of the newest record read from a topic.", ("topic",))
    name, text = "tidemill_record_e2e_latency_seconds", "From a record's timestamp to its results in a topic."
    age = SummaryMetricFamily(name, text, labels=("app", "topic"))
    youngest = _gauge("record_e2e_latency_min_seconds", "The shortest of the last batch.", ("topic",))
    oldest = _gauge("record_e2e_latency_max_seconds", "The longest of the last batch.", ("topic",))
    for app in apps:
        for topic, counts in app.get("topics_in", {}).items():
            labels = (app["app"], topic)
            consumed.add_metric(labels, counts["records"])
            size.add_metric(labels, counts["bytes"])
            skew.add_metric(labels, counts["delay_seconds"])
        for topic, counts in app.get("topics_out", {}).items():
            labels = (app["app"], topic)
            produced.add_metric(labels, counts["records"])
            written.add_metric(labels, counts["bytes"])
            age.add_metric(labels, counts["records"], counts["age_ms_sum"] / 1000)
            youngest.add_metric(labels, counts["age_ms_min"] / 1000)
            oldest.add_metric(labels, counts["age_ms_max"] / 1000)
    yield from (consumed, size, produced, written, skew, age, youngest, oldest)


def _lag(apps: list[Figures]) -> Iterator[Metric]:
    labels = ("topic", "partition")
    records = _gauge("consumer_lag_records", "Records that are there and were not processed.", labels)
    waits = "How long the first of them has been there."
    seconds = _gauge("consumer_lag_seconds", waits, (*labels, "method"))
    for app in apps:
        for part in app.get("partitions", ()):
            where = (app["app"], part["topic"], str(part["partition"]))
            records.add_metric(where, part["lag"])
            if part.get("lag_seconds") is not None:
                seconds.add_metric((*where, "timestamp"), part["lag_seconds"])
    yield from (records, seconds)


def _batches(apps: list[Figures]) -> Iterator[Metric]:
    from prometheus_client.core import HistogramMetricFamily

    text = "How long the parts of a batch took; `total` is all of it."
    times = HistogramMetricFamily("tidemill_batch_duration_seconds", text, labels=("app", "phase"))
    for app in apps:
        for phase, histogram in app.get("batch_seconds", {}).items():
            buckets = [("+Inf" if end is None else str(end), count) for end, count in histogram["buckets"]]
            times.add_metric((app["app"], phase), buckets, histogram["sum"])
    yield times


def _state(apps: list[Figures]) -> Iterator[Metric]:
    table = {
        "rows": _gauge("state_rows", "Entries of the stores of an operator.", ("level", "store")),
        "bytes": _gauge("state_bytes", "Memory of the stores of an operator.", ("level", "store")),
        "disk_bytes": _gauge("state_disk_bytes", "Files of the stores of an operator.", ("level", "store")),
    }
    rocksdb: dict[str, Any] = {}
    commit = _gauge("state_commit_seconds", "The last commit of an operator's stores.", ("level", "store"))
    for app in apps:
        for operator in app.get("state_operators", ()):
            labels = (app["app"], str(operator["level"]), ",".join(operator["stores"]))
            for key, family in table.items():
                family.add_metric(labels, operator[key])
            commit.add_metric(labels, operator["commit_ms"] / 1000)
            for name, value in operator["rocksdb"].items():
                text = "RocksDB's own figure of the last batch."
                family = rocksdb.setdefault(name, _gauge(f"rocksdb_{name}", text, ("level", "store")))
                family.add_metric(labels, value)
    yield from (*table.values(), commit, *rocksdb.values())


def _filled(family: Any, values: Iterable[tuple[Figures, Any]]) -> Metric:
    for app, value in values:
        if value is not None:
            family.add_metric((app["app"],), value)
    return family  # type: ignore[no-any-return]
