"""How many records a batch takes: a model of a stream with a fixed cost per batch and a cost per record."""

from __future__ import annotations

from dataclasses import dataclass

import pytest


@dataclass
class Stream:
    """Runs batches of a pace in the order Spark would; times are in milliseconds."""

    pace: object
    overhead: float
    per_record: float
    size: int = 100
    backlog: float = 0
    arriving: float = 0

    def run(self, batches: int) -> list[tuple[int, float]]:
        done = []
        for _ in range(batches):
            records = int(min(self.backlog, self.pace.limit()))
            millis = max(100.0, self.overhead + records * self.per_record)
            self.backlog += self.arriving * millis - records
            self.pace.finished(records, int(millis), records * self.size)
            done.append((records, millis))
        return done


@pytest.fixture
def pace(spark):
    def make(target: int = 5000, records: int = 500_000, memory: int = 256 * 1024 * 1024) -> object:
        return spark._jvm.io.tidemill.source.Pace(target, records, memory)

    return make


def test_backlog_is_read_in_large_batches_soon(pace):
    done = Stream(pace(), overhead=150, per_record=0.008, backlog=1e9).run(8)
    assert done[0][0] == 20_000, "nothing is known of the first"
    assert done[3][0] == 500_000
    assert done[-1][0] == 500_000


def test_slow_work_is_cut_to_what_fits_the_time(pace):
    """A millisecond a record: half a million would take eight minutes, and a stop would wait for them."""
    done = Stream(pace(), overhead=150, per_record=1.0, backlog=1e9).run(8)
    assert all(millis < 6000 for _, millis in done[3:])
    assert all(records > 3500 for records, _ in done[3:])


def test_live_stream_is_not_held_back(pace):
    """Fifty thousand records a second, of twice that possible: batches near the interval, no backlog."""
    stream = Stream(pace(), overhead=60, per_record=0.01, arriving=50)
    done = stream.run(50)
    assert max(millis for _, millis in done[10:]) < 300
    assert stream.backlog < 15_000


def test_hiccup_is_caught_up_with_and_forgotten(pace):
    stream = Stream(pace(), overhead=60, per_record=0.01, arriving=20)
    stream.run(5)
    stream.backlog = 300_000
    assert max(millis for _, millis in stream.run(10)) <= 5000
    assert max(millis for _, millis in stream.run(10)) < 200


def test_large_records_are_bounded_by_memory(pace):
    memory = 64 * 1024 * 1024
    stream = Stream(pace(memory=memory), overhead=100, per_record=0.01, size=10_000, backlog=1e9)
    assert all(records * 10_000 <= memory for records, _ in stream.run(10)[1:])


def test_users_ceiling_is_kept_even_a_small_one(pace):
    done = Stream(pace(records=50), overhead=9000, per_record=0.01, backlog=1e9).run(5)
    assert [records for records, _ in done] == [50] * 5


def test_odd_slow_batch_does_not_end_in_a_crawl(pace):
    stream = Stream(pace(), overhead=100, per_record=0.01, backlog=1e9)
    stream.run(6)
    stream.overhead = 60_000
    stream.run(1)
    stream.overhead = 100
    assert stream.run(4)[-1][0] >= 400_000


def test_silence_is_asked_into_less_and_less(spark):
    """Ten questions a second at first, four after some seconds; the first record makes it ten again."""
    silence = spark._jvm.io.tidemill.source.Silence(250_000_000)

    def questions(begin: int, end: int) -> int:
        asked = 0
        for now in range(begin, end, 100):
            if not silence.isTooEarly(now * 1_000_000):
                silence.asked(now * 1_000_000, False)
                asked += 1
        return asked

    silence.asked(0, True)
    assert questions(100, 1100) == 10
    assert questions(10_100, 20_100) in range(30, 45)
    assert silence.millisLeft(20_000 * 1_000_000) in range(1, 252)
    assert silence.millisLeft(20_400 * 1_000_000) == 0
    silence.asked(20_200 * 1_000_000, True)
    assert questions(20_300, 21_300) == 10
