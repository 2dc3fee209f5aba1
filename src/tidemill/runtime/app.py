"""App: a topology under an application id, from start to stop."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from tidemill.dsl.builder import StreamsBuilder
from tidemill.errors import TidemillError, UsageError
from tidemill.kafka.admin import Admin
from tidemill.runtime.config import AppConfig, Latency
from tidemill.runtime.layers import load_config
from tidemill.runtime.positions import Start, Until
from tidemill.runtime.reset import ResetPlan, reset
from tidemill.runtime.signals import stop_on_signal
from tidemill.runtime.state import Listener, State
from tidemill.runtime.supervision import ErrorHandler
from tidemill.runtime.watcher import Watcher
from tidemill.topology import Topology

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Builds(Protocol):
    """A builder of topologies: StreamsBuilder, TopologyBuilder."""

    def build(self) -> Topology:
        """The topology."""


class App:
    """Runs a topology against Kafka, exactly once unless told otherwise.

    Settings are keywords in snake_case, or Kafka Streams' names in a dict `config` or a TOML file; the
    environment (`TIDEMILL_...`) is asked for what is in neither keyword nor dict.

    >>> from tidemill import StreamsBuilder
    >>> builder = StreamsBuilder()
    >>> builder.stream("orders").to("copy")
    >>> app = App("copier", builder, bootstrap_servers="localhost:9092", commit_interval_ms=200)
    >>> app
    <App copier CREATED>
    >>> app.run()  # doctest: +SKIP
    """

    def __init__(
        self,
        application_id: str,
        builder: Builds | Topology,
        *,
        bootstrap_servers: str | None = None,
        config: Mapping[str, Any] | None = None,
        config_file: str | os.PathLike[str] | None = None,
        spark: SparkSession | None = None,
        starting_offsets: Start | None = None,
        **settings: Any,
    ) -> None:
        given = {"config": config, "bootstrap_servers": bootstrap_servers, **settings}
        self.config: AppConfig = load_config(application_id, given, file=config_file)
        self.topology = _topology(builder, explicit_names=self.config.explicit_names)
        self._watcher = Watcher(self.config, self.topology, spark, starting_offsets)
        self._lifecycle = threading.RLock()

    @property
    def application_id(self) -> str:
        """The id: of the consumer group, the state directory, the transactions."""
        return self.config.application_id

    @property
    def state(self) -> State:
        """What the app is doing."""
        return self._watcher.states.state

    @property
    def error(self) -> TidemillError | None:
        """Why the app is in state ERROR."""
        return self._watcher.error

    def on_state_change(self, listener: Listener) -> None:
        """Have `listener(new, old)` called on every change of state."""
        self._watcher.states.listen(listener)

    def on_error(self, handler: ErrorHandler) -> None:
        """Let `handler(error)` decide between Reaction.REPLACE and Reaction.SHUTDOWN."""
        self._watcher.supervisor.handler = handler

    def start(self, *, until: Until | None = None) -> None:
        """Start and return once the query runs.

        With `until` the run is bounded: it does what is there up to some place, then stops, and a later one
        goes on from it. "now" is the end of every topic when the run begins. A datetime, ISO 8601 text or
        milliseconds end it before the first record of that time or later, partition by partition.
        `{topic: {partition: offset}}` ends it before these offsets, and other partitions now.
        """
        if until is not None and self.config.latency is Latency.REALTIME:
            raise UsageError(
                "real-time mode has no end", remedy='leave `until` out, or run with latency="throughput"'
            )
        with self._lifecycle:
            self._watcher.start(until)

    def run(self, *, until: Until | None = None) -> None:
        """Start, and block until a signal, `stop()`, `until` or an error ends the app; an error is raised."""
        asked = threading.Event()
        with stop_on_signal(asked.set) as take_signals:
            self.start(until=until)
            take_signals()
            while not self.wait(0.2):
                if asked.is_set():
                    self.stop()
        if self.error is not None:
            raise self.error

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the app has stopped or failed; False if the time is over first."""
        return self._watcher.states.wait_for(State.STOPPED, State.ERROR, timeout=timeout)

    def stop(self, timeout: float = 60.0) -> bool:
        """Finish the batch in work, then stop. False if that took longer and the batch was broken off."""
        with self._lifecycle:
            return self._watcher.stop(timeout)

    close = stop

    def pause(self, timeout: float = 60.0) -> None:
        """Finish the batch in work and begin no other; state and position stay where they are."""
        with self._lifecycle:
            self._watcher.pause(timeout)

    def resume(self) -> None:
        """Go on after `pause`."""
        with self._lifecycle:
            self._watcher.resume()

    def reset(
        self,
        *,
        dry_run: bool = False,
        input_topics: Iterable[str] | None = None,
        intermediate_topics: Iterable[str] | None = None,
        internal_topics: Iterable[str] | None = None,
        dead_letter_topics: Iterable[str] = (),
        **target: Any,
    ) -> ResetPlan:
        """Forget all state and begin anew: at the beginning of the input topics, or where `target` says.

        `target` is one of `to_earliest=True`, `to_latest=True`, `to_offset=`, `to_datetime=`, `by_duration=`,
        `shift_by=`, `from_file=`. Refused while the app runs. Returns what was done, or would be.
        """
        from tidemill.runtime import reset_plan

        request = reset_plan.ResetRequest.of(
            target, input_topics, intermediate_topics, internal_topics, dead_letter_topics
        )
        admin, config = Admin(self.config.admin_settings()), self.config
        plan = reset_plan.prepare_reset(
            admin,
            self.application_id,
            folder=config.folder,
            checkpoint=config.checkpoint,
            request=request,
            topology=self.topology.to_json(),
        )
        if not dry_run:
            reset(plan, admin)
        return plan

    def clean_up(self) -> None:
        """Wipe the state: stores begin empty, and the app goes on where it was. Refused while it runs."""
        from tidemill.runtime.reset_plan import keep_offsets

        admin, config = Admin(self.config.admin_settings()), self.config
        plan = keep_offsets(admin, self.application_id, folder=config.folder, checkpoint=config.checkpoint)
        reset(plan, admin)

    def describe(self) -> str:
        """The topology in Kafka Streams' text form."""
        return self.topology.describe()

    def explain(self) -> str:
        """What Spark is made to do: the levels of the plan, their steps and stores."""
        from tidemill.engine.explain import explain, explanation_text

        return explanation_text(explain(self.topology, self.config.handlers))

    def metadata(self) -> dict[str, Any]:
        """Who the app is, where it keeps things, and how far it is in each partition it reads.

        Of a partition, `committed` is what finished batches have come to, and `end` what there is to read.
        """
        return {
            "application_id": self.application_id,
            "state": str(self.state),
            "pid": os.getpid(),
            "bootstrap_servers": self.config.settings.bootstrap_servers,
            "processing_guarantee": str(self.config.guarantee),
            "latency": str(self.config.latency),
            "master": self.config.master,
            "tasks": self._watcher.tasks,
            "partitions": self._watcher.partitions(),
            "source_topics": list(self.topology.source_topics),
            "sink_topics": list(self.topology.sink_topics),
            "stores": list(self.topology.stores),
            "checkpoint": self.config.checkpoint,
            "log_file": str(self._watcher.log_file),
            "metrics": self._watcher.metrics_address,
        }

    def metrics(self) -> dict[str, Any]:
        """Figures on what the app has done so far."""
        return self._watcher.figures()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<App {self.application_id} {self.state}>"


def _topology(builder: Builds | Topology, *, explicit_names: bool) -> Topology:
    if isinstance(builder, Topology):
        return builder
    if explicit_names and isinstance(builder, StreamsBuilder):
        return builder.build(explicit_names=True)
    return builder.build()
