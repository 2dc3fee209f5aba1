"""The thread that owns a running query: reports its progress, restarts it, pauses it, ends it."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemill.engine.failures import query_failure
from tidemill.engine.handlers import Outcome
from tidemill.engine.steps import physical_plan
from tidemill.errors import TidemillError, UsageError
from tidemill.runtime.config import AppConfig
from tidemill.runtime.exposition import MetricsServer
from tidemill.runtime.figures import FiguresFile
from tidemill.runtime.metrics import Metrics
from tidemill.runtime.positions import Start, Until
from tidemill.runtime.state import State, StateMachine
from tidemill.runtime.supervision import Supervisor
from tidemill.topology import Topology

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemill.engine.query import RunningQuery

log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.2
_SLACK_SECONDS = 10.0


_OUTCOMES = {Outcome.CONTINUE: "left out", Outcome.DEAD_LETTER: "set aside as dead letters"}


class _Wish(Enum):
    RUN = auto()
    PAUSE = auto()
    STOP = auto()


class Watcher:
    """Starts a query and does with it what is wished; all talk with the query is in one thread."""

    def __init__(
        self,
        config: AppConfig,
        topology: Topology,
        spark: SparkSession | None,
        starting: Start | None,
    ) -> None:
        self.states = StateMachine()
        self.supervisor = Supervisor(limit=config.restart_limit, backoff=config.restart_backoff_ms / 1000)
        self.error: TidemillError | None = None
        self._config = config
        from tidemill.runtime.launch import Launch  # brings Spark in: only a watched app needs it

        self._launch = Launch(config, topology, spark=spark, starting=starting)
        self.states.listen(lambda new, _old: self._launch.record.moved(new))
        self._metrics = Metrics(self._launch.stores_by_level(), depth=physical_plan(topology).depth)
        self._figures_file = FiguresFile(config.folder)
        self._server: MetricsServer | None = None
        self._started: float | None = None
        self._query: RunningQuery | None = None
        self._wish = _Wish.RUN
        self._patience = 0.0
        self._wake = threading.Event()
        self._clean_end = True

    @property
    def tasks(self) -> int:
        """How many tasks records are spread over; 0 before the first start."""
        return self._launch.tasks

    @property
    def log_file(self) -> Path:
        """Where Spark writes its log, if the app started Spark."""
        return self._launch.checkpoint.log_file

    def start(self, until: Until | None) -> None:
        """Start the query and the thread; what goes wrong until then is raised."""
        bounded = until is not None
        self.states.move(State.STARTING)
        self.error = None
        self._wish = _Wish.RUN
        self._wake.clear()
        try:
            self._launch.prepare(until)
            self._serve()
            self._metrics.began(self._launch.checkpoint.committed())
            self._query = self._launch.start(bounded=bounded)
        except BaseException as error:
            self.error = self._told(error)
            self._close(self.error)
            self.states.move(State.ERROR)
            if isinstance(error, Exception):
                raise self.error from error
            raise
        self.states.move(State.RUNNING)
        self._started = time.time()
        self._launch.lag.start(lambda: self._metrics.position, self._metrics.ends)
        name = f"tidemill-{self._config.application_id}"
        threading.Thread(target=self._live, args=(bounded,), name=name, daemon=True).start()

    def stop(self, timeout: float) -> bool:
        """Wish for an end and wait for it; True if no batch was broken off."""
        if self.states.state is State.CREATED:
            self.states.move(State.STOPPING)
            self.states.move(State.STOPPED)
        if self.states.state in (State.STOPPED, State.ERROR):
            return True
        self._ask(_Wish.STOP, timeout)
        ended = self.states.wait_for(State.STOPPED, State.ERROR, timeout=timeout + _SLACK_SECONDS)
        return ended and self._clean_end

    def pause(self, timeout: float) -> None:
        """Wish for a pause and wait for it."""
        if self.states.state is State.PAUSED:
            return
        if self.states.state is not State.RUNNING:
            raise UsageError(f"the app is {self.states.state}: it cannot be paused")
        self._ask(_Wish.PAUSE, timeout)
        if not self.states.wait_for(State.PAUSED, State.STOPPED, State.ERROR, timeout=timeout):
            raise UsageError(
                "the batch in work did not finish in time", remedy="wait longer: pause(timeout=...)"
            )

    def resume(self) -> None:
        """Wish to go on and wait for it."""
        if self.states.state is State.PAUSED:
            self._ask(_Wish.RUN, 0)
            self.states.wait_for(State.RUNNING, State.STOPPED, State.ERROR, timeout=_SLACK_SECONDS)

    @property
    def metrics_address(self) -> str | None:
        """Where Prometheus finds the metrics, None if they are not served."""
        return None if self._server is None else self._server.address

    def partitions(self) -> list[dict[str, Any]]:
        """How far the app is in each partition it reads."""
        return [
            {
                "topic": part["topic"],
                "partition": part["partition"],
                "committed": part["position"],
                "end": part["end"],
            }
            for part in self._metrics.snapshot()["partitions"]
        ]

    def figures(self) -> dict[str, Any]:
        """The metrics, with what only the query itself can tell."""
        query, dropped = self._query, {}
        if query is not None and self.states.state in (State.RUNNING, State.PAUSED):
            with suppress(Exception):  # the query may end while it is asked
                dropped = query.dropped()
        figures = {
            "app": self._config.application_id,
            "state": str(self.states.state),
            "started": self._started,
            "processing_guarantee": str(self._config.guarantee),
            "latency": str(self._config.latency),
            **self._metrics.snapshot(dropped),
        }
        waits = [self._wait_of(part) for part in figures["partitions"]]
        known = [seconds for seconds in waits if seconds is not None]
        return {**figures, "lag_seconds": max(known, default=None)}

    def _wait_of(self, part: dict[str, Any]) -> float | None:
        lag = self._launch.lag
        part["lag_seconds"] = lag.seconds(part["topic"], part["partition"], part["position"], part["lag"])
        return part["lag_seconds"]  # type: ignore[no-any-return]

    def _serve(self) -> None:
        if self._config.metrics_port is not None:
            self._server = MetricsServer(self._config.metrics_host, self._config.metrics_port, self.figures)

    def _close(self, error: TidemillError | None = None, *, clean: bool = False) -> None:
        """Give back what a run has taken."""
        if hasattr(self._launch, "lag"):
            self._launch.lag.stop()
        if self._server is not None:
            self._server.close()
            self._server = None
        self._figures_file.remove()
        self._launch.release(error, clean=clean)

    def _count_dropped(self) -> None:
        """Keep what a query has counted, before it is gone."""
        with suppress(Exception):  # a JVM that is gone tells nothing more
            if self._query is not None:
                self._metrics.ended(self._query.dropped())

    def _ask(self, wish: _Wish, patience: float) -> None:
        self._patience = patience
        self._wish = wish
        self._wake.set()

    def _live(self, bounded: bool) -> None:
        try:
            while self._step(bounded):
                self._wake.wait(_LOOK_SECONDS)
                self._wake.clear()
        except BaseException as error:  # noqa: BLE001 -- the last line of defence: the app must not just hang
            self._fail(self._told(error))

    def _step(self, bounded: bool) -> bool:
        """Look once; False when the life of the query is over."""
        try:
            return self._look()
        except Exception as error:  # noqa: BLE001 -- whatever the gateway or Spark raises is judged in one place
            return self._recover(self._told(error), bounded)

    def _look(self) -> bool:
        assert self._query is not None
        if self._wish is _Wish.STOP:
            self._end(State.STOPPED)
            return False
        active = self._query.is_active
        self._report()
        self._launch.check()
        if not active:
            failure = self._query.failure()
            if failure is not None:
                raise failure
            self._end(State.STOPPED)
            return False
        if self._wish is _Wish.PAUSE and self.states.state is State.RUNNING:
            if self._query.hold(self._patience):
                self._report()
                self.states.move(State.PAUSED)
        elif self._wish is _Wish.RUN and self.states.state is State.PAUSED:
            self._query.release()
            self.states.move(State.RUNNING)
        return True

    def _report(self) -> None:
        assert self._query is not None
        reports = self._query.new_progress()
        if reports:
            self.supervisor.succeeded()
            self._metrics.finished(reports)
            self._launch.group.finished(reports)
            self._launch.progressed()
        self._launch.group.commit()
        self._figures_file.keep(self.figures)
        if reports:
            self._count_problems()

    def _count_problems(self) -> None:
        assert self._query is not None
        if self._config.handlers.are_needed:
            for new in self._metrics.handled(self._query.run, self._query.handled()):
                log.warning(
                    "%d records so far: %s failed at `%s`, %s; the last: %s",
                    new["count"],
                    new["kind"],
                    new["node"],
                    _OUTCOMES[new["outcome"]],
                    new["last"],
                )

    def _recover(self, error: TidemillError, bounded: bool) -> bool:
        """Restart after a failure, as often as allowed; False when given up or stopped meanwhile."""
        while True:
            if self._wish is _Wish.STOP:
                self._end(State.STOPPED)
                return False
            adapted = self._launch.adapts_to(error)
            pause = 0.0 if adapted else self.supervisor.decide(error)
            if pause is None:
                self._fail(error)
                return False
            if not adapted:
                log.warning("the query failed and starts again in %.1f s: %s", pause, error)
            if self.states.state is not State.STARTING:
                self.states.move(State.STARTING)
            self._metrics.restarted(error.code)
            if self._wait_for_stop(pause):
                continue
            try:
                self._count_dropped()
                self._abandon()
                self._query = None
                self._metrics.began()
                self._query = self._launch.start(bounded=bounded)
            except Exception as again:  # noqa: BLE001 -- judged like the failure before it
                error = self._told(again)
                continue
            self.states.move(State.RUNNING)
            return True

    def _wait_for_stop(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._wish is not _Wish.STOP:
            self._wake.wait(max(0.0, deadline - time.monotonic()))
            self._wake.clear()
        return self._wish is _Wish.STOP

    def _end(self, final: State) -> None:
        self.states.move(State.STOPPING)
        try:
            if self._query is not None:
                self._clean_end = self._query.stop(self._patience)
                self._report()
                self._count_problems()
                self._count_dropped()
        except Exception as error:  # noqa: BLE001 -- an orderly end was wished for; what fails now is told only
            log.warning("the query did not end in order: %s", self._told(error))
            self._clean_end = False
        finally:
            self._close(clean=self._clean_end)
        self.states.move(final)

    def _fail(self, error: TidemillError) -> None:
        self.error = error
        log.error("the app %s stops: %s", self._config.application_id, error)
        try:
            self._count_dropped()
            self._abandon()
        finally:
            self._close(error)
            self.states.move(State.ERROR)

    def _abandon(self) -> None:
        """Be sure that a failed query is not running any more."""
        try:
            if self._query is not None:
                self._query.stop(0)
                self._count_problems()
        except Exception as error:  # noqa: BLE001 -- it has failed already
            log.debug("a failed query could not be stopped: %s", error)

    def _told(self, error: BaseException) -> TidemillError:
        told = query_failure(error)
        try:
            told = self._launch.judge(told)
        except TidemillError as again:
            log.debug("nothing more is known of the failure: %s", again)
        told.what = self._config.settings.redact(told.what)
        return told
