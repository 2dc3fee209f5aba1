"""How long a record takes from topic to topic in real-time mode: sent, read, processed, written, received."""

from __future__ import annotations

import statistics
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from runtime.broker import Broker, until
from tidemill.kafka.clients import producer_config

PROGRAM = Path(__file__).with_name("measured_program.py")
RATE = 1000
WARM_UP_SECONDS = 12
SECONDS = 30


class Receiver(threading.Thread):
    """Notes how old each record is when it is received; its header has the time it was sent."""

    def __init__(self, broker: Broker, topic: str) -> None:
        super().__init__(daemon=True)
        self.ages: list[tuple[float, float]] = []
        self.done = threading.Event()
        config = {"group.id": uuid.uuid4().hex, "enable.auto.commit": False, "fetch.wait.max.ms": 10}
        self._consumer = Consumer({**broker.settings.librdkafka(), **config})
        self._consumer.assign([TopicPartition(topic, 0, 0)])

    def run(self) -> None:
        while not self.done.is_set():
            message = self._consumer.poll(0.1)
            if message is not None and not message.error():
                now = time.time()
                sent = int(dict(message.headers())["sent"]) / 1e9
                self.ages.append((sent, (now - sent) * 1000))


def send(broker: Broker, topic: str, seconds: float) -> None:
    producer = Producer({**producer_config(broker.settings), "linger.ms": 0})
    started, count = time.perf_counter(), 0
    while (passed := time.perf_counter() - started) < seconds:
        while count < passed * RATE:
            headers = [("sent", str(time.time_ns()).encode())]
            value = (1).to_bytes(8, "big")
            producer.produce(topic, key=f"key-{count % 100}", value=value, headers=headers)
            count += 1
        producer.poll(0)
        time.sleep(0.0005)
    producer.flush(10)


@pytest.mark.bench
@pytest.mark.parametrize(("shape", "median", "slowest"), [("stateless", 3, 15), ("keyed-sum", 5, 30)])
def test_record_is_through_in_milliseconds(broker, topic, tmp_path, capsys, shape, median, slowest):
    source, target = topic("in"), topic("out")
    app = subprocess.Popen(
        [sys.executable, PROGRAM, shape, "realtime", broker.servers, tmp_path, source, target]
    )
    receiver = Receiver(broker, target)
    try:
        receiver.start()
        send(broker, source, 0.5)
        until(lambda: receiver.ages, seconds=90)
        send(broker, source, WARM_UP_SECONDS)
        begin = time.time()
        send(broker, source, SECONDS)
        time.sleep(2)
    finally:
        receiver.done.set()
        app.terminate()
        app.wait(60)
    ages = [age for sent, age in receiver.ages if sent >= begin]
    cuts = statistics.quantiles(ages, n=100)
    told = " ".join(f"p{n} {cuts[n - 1]:.1f}" for n in (50, 95, 99))
    with capsys.disabled():
        print(f"\n{shape}: {len(ages)} records at {RATE}/s, milliseconds {told}")
    assert len(ages) >= 0.99 * RATE * SECONDS
    assert cuts[49] <= median
    assert cuts[98] <= slowest
