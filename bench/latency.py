"""Latency: records sent at a steady rate, and how long until a result that covers each of them is read."""

from __future__ import annotations

import gc
import sys
import threading
import time
import uuid
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from bench.answers import SILENT
from bench.data import user_name
from bench.drain import Key, Lab, Task
from bench.systems import ALOS, EOS, SYSTEMS
from bench.workloads import WORKLOADS

KEYS = 10_000
WARM_SECONDS = 30.0
"""How long records flow before they count: until then a JVM compiles more than it computes."""
TUNED_KSTREAMS = {
    "commit.interval.ms": "100",
    "producer.linger.ms": "0",
    "producer.compression.type": "none",
    "statestore.cache.max.bytes": "0",
}
"""What makes Kafka Streams quick: nothing waits in a buffer. Its transactions still wait for the commit."""


@dataclass(frozen=True)
class Setup:
    """A system in one of its ways to run."""

    label: str
    system: str
    guarantee: str
    mode: str = "throughput"
    settings: Mapping[str, str] = field(default_factory=dict)


SETUPS: Mapping[str, Setup] = {
    setup.label: setup
    for setup in (
        Setup("tidemill-realtime", "tidemill", ALOS, "realtime"),
        Setup("tidemill-alos", "tidemill", ALOS),
        Setup("tidemill-eos", "tidemill", EOS),
        Setup("kstreams-alos", "kstreams", ALOS, settings=TUNED_KSTREAMS),
        Setup("kstreams-eos", "kstreams", EOS, settings=TUNED_KSTREAMS),
        Setup("quix-alos", "quix", ALOS, settings={"linger.ms": "0"}),
    )
}


@dataclass
class Latency:
    """One measurement, in milliseconds."""

    setup: str
    workload: str
    rate: int
    seconds: float
    run: int = 0
    error: str | None = None
    p50: float = 0.0
    p95: float = 0.0
    p99: float = 0.0
    worst: float = 0.0
    records: int = 0
    first_result: float = 0.0
    """Seconds from the start of the process, with records waiting."""
    cpu_share: float = 0.0
    """Cores in use while measured."""

    @property
    def key(self) -> Key:
        """What tells it from every other measurement."""
        return ("latency", self.setup, self.workload, self.rate, self.run)

    def as_json(self) -> dict[str, Any]:
        """All figures."""
        return asdict(self)


@dataclass(frozen=True)
class Wish:
    """What to measure. W0 has no state, `sum` has."""

    setup: Setup
    workload: str
    rate: int
    seconds: float = 20.0
    partitions: int = 4
    run: int = 0

    def blank(self) -> Latency:
        """A result that has no figures yet."""
        return Latency(self.setup.label, self.workload, self.rate, self.seconds, self.run)


def measure(lab: Lab, wish: Wish) -> Latency:
    """Measure a setup; what goes wrong is in the result."""
    setup, seconds, partitions = wish.setup, wish.seconds, wish.partitions
    result = wish.blank()
    name = f"{setup.label}-{wish.workload}-{uuid.uuid4().hex[:8]}".lower()
    topic = f"{name}-in"
    try:
        lab.broker.create(topic, partitions)
        task = Task(
            WORKLOADS[wish.workload],
            SYSTEMS[setup.system],
            setup.guarantee,
            records=1,
            partitions=partitions,
            settings=setup.settings,
        )
        job = lab.job(task, name, {"events": topic}, mode=setup.mode)
        with _Line(lab.broker.address, topic, job.output, partitions, wish.rate) as line:
            program = lab.start(task.system, job)
            try:
                result.first_result = line.await_first(120.0) - program.started
                time.sleep(WARM_SECONDS)
                line.await_pace(30.0)
                begin, before = line.now(), program.usage().cpu
                time.sleep(seconds)
                end, after = line.now(), program.usage().cpu
                line.stop_sending()
                line.await_all(30.0)
                if not program.running:
                    raise RuntimeError(f"the program ended by itself:\n{program.tail()}")
            except TimeoutError as error:
                raise TimeoutError(f"{error}\n{program.tail()}") from error
            finally:
                program.stop()
            result.cpu_share = (after - before) / seconds
            _summarise(result, line.latencies(begin, end))
    except Exception as error:  # noqa: BLE001 -- one system that fails must not lose the others' results
        result.error = f"{type(error).__name__}: {error}"
    finally:
        lab.clean(name)
    return result


def _summarise(result: Latency, found: list[float]) -> None:
    if not found:
        raise RuntimeError("no results were read in the time that counts")
    found.sort()
    result.records = len(found)
    result.p50, result.p95, result.p99 = (found[int(len(found) * part)] for part in (0.5, 0.95, 0.99))
    result.worst = found[-1]


class _Line:
    """A sender and a reader. A record's timestamp is its moment of sending, in microseconds of this line.

    Every system gives a result the largest timestamp that went into it, so a result covers all records of its
    key that were sent until then.
    """

    def __init__(self, address: str, source: str, target: str, partitions: int, rate: int) -> None:
        self._source = source
        self._rate = rate
        self._zero = time.monotonic()
        self._pending: dict[bytes, deque[int]] = defaultdict(deque)
        self._found: list[tuple[int, int]] = []
        self._first: float | None = None
        self._sending = True
        self._reading = True
        self._producer = Producer(
            {
                "bootstrap.servers": address,
                **SILENT,
                "linger.ms": 0,
                "enable.idempotence": True,
                "partitioner": "murmur2_random",
            }
        )
        self._consumer = Consumer(
            {
                "bootstrap.servers": address,
                **SILENT,
                "group.id": "bench-latency",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 100,
            }
        )
        self._consumer.assign([TopicPartition(target, part, OFFSET_BEGINNING) for part in range(partitions)])
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._send, self._read)]

    def __enter__(self) -> _Line:
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(0.0005)
        gc.disable()  # its pauses would be told as latency
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._sending = self._reading = False
        for thread in self._threads:
            thread.join(10)
        sys.setswitchinterval(self._interval)
        gc.enable()
        self._consumer.close()

    def now(self) -> int:
        """Microseconds since the beginning."""
        return int((time.monotonic() - self._zero) * 1e6)

    def await_first(self, timeout: float) -> float:
        """When the first result was read."""
        deadline = time.monotonic() + timeout
        while self._first is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"no result after {timeout:.0f} s")
            time.sleep(0.01)
        return self._first

    def await_pace(self, timeout: float) -> None:
        """Wait until what was sent during the start is worked off; a system that never is shows it itself."""
        deadline = time.monotonic() + timeout
        while self._waiting() > self._rate and time.monotonic() < deadline:
            time.sleep(0.5)

    def stop_sending(self) -> None:
        """No more records."""
        self._sending = False
        self._threads[0].join(10)

    def await_all(self, timeout: float) -> None:
        """Wait until a result covers every record that was sent."""
        deadline = time.monotonic() + timeout
        while waiting := self._waiting():
            if time.monotonic() > deadline:
                raise TimeoutError(f"does not keep up: {waiting:,} records got no result")
            time.sleep(0.05)

    def latencies(self, begin: int, end: int) -> list[float]:
        """Milliseconds of the records sent between two moments."""
        return [took / 1000 for sent, took in self._found if begin <= sent < end]

    def _waiting(self) -> int:
        return sum(len(times) for times in list(self._pending.values()))

    def _send(self) -> None:
        produce, poll, names = self._producer.produce, self._producer.poll, _names()
        sent, begun = 0, time.monotonic()
        while self._sending:
            due = int((time.monotonic() - begun) * self._rate)
            while sent < due:
                name = next(names)
                value = b'{"id":%d,"user":"%b","amount":777,"kind":"ebb","note":"live"}' % (sent, name)
                at = self.now()
                self._pending[name].append(at)
                produce(self._source, value, name, timestamp=at)
                sent += 1
            poll(0)
            time.sleep(0.0005)
        self._producer.flush(10)

    def _read(self) -> None:
        poll, pending = self._consumer.poll, self._pending
        while self._reading:
            message = poll(0.1)
            if message is None or message.error() is not None:
                continue
            arrived = self.now()
            if self._first is None:
                self._first = time.monotonic()
            covers = message.timestamp()[1]
            waiting = pending[message.key() or b""]
            while waiting and waiting[0] <= covers:
                sent = waiting.popleft()
                self._found.append((sent, arrived - sent))


def _names() -> Iterator[bytes]:
    names = [user_name(user).encode() for user in range(KEYS)]
    at = 0
    while True:
        yield names[at]
        at = (at + 7919) % KEYS  # all keys in turn, neighbours far apart
