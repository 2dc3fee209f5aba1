"""The benchmark's own arithmetic: references against brute force, figures, tables, charts, the page."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from bench import charts, page, plan, readme
from bench.data import Dataset
from bench.drain import Lab, Result, Sample, summarise
from bench.latency import Latency
from bench.lifecycle import Life
from bench.process import Program, end_of, tree
from bench.progress import FileProgress
from bench.reference import JOIN_MS, WINDOW_MS, Answer, Tally, expected
from bench.spy import Seen, by_part
from bench.store import Store
from bench.systems import ALOS, EOS, SYSTEMS
from bench.table import lines, ratio
from bench.workloads import WORKLOADS


def test_the_same_seed_gives_the_same_records() -> None:
    data = Dataset("events", 500, 20)
    assert list(data.rows()) == list(data.rows())
    longer = Dataset("events", 700, 20)
    assert list(longer.rows())[:500] == list(data.rows())


def test_sliding_sums_are_those_of_every_set_of_neighbours() -> None:
    data = Dataset("events", 400, 5, rate=2)
    rows = list(data.events())
    found = {}
    for user in range(5):
        mine = [event for event in rows if event.user == user]
        starts = {event.at - WINDOW_MS for event in mine} | {event.at + 1 for event in mine}
        for start in starts:
            inside = [event.amount for event in mine if start <= event.at <= start + WINDOW_MS]
            if inside:
                found[f"user-{user:07d}@{start}"] = sum(inside)
    assert expected("W3", {"events": data}).finals == found


def test_pairs_are_those_of_all_pairs_that_are_near() -> None:
    left, right = (Dataset("events", 300, 6, rate=5, seed=seed) for seed in (2, 3))
    tally = Tally()
    for one, other in product(left.events(), right.events()):
        if one.user == other.user and abs(one.at - other.at) <= JOIN_MS:
            tally.add(f"{one.id} {other.id}")
    assert tally.rows > 100
    assert expected("W5", {"left": left, "right": right}).tally == tally


def test_counts_of_words_and_windows() -> None:
    lines_of_words = Dataset("lines", 50)
    words = Counter(word for row in lines_of_words.rows() for word in row.value.decode().split(" "))
    assert expected("W1", {"lines": lines_of_words}).finals == dict(words)
    inputs = WORKLOADS["W7"].inputs(900, 40, 30)
    counted = expected("W7", inputs).finals
    assert sum(int(str(count)) for count in counted.values()) == sum(
        event.user < 30 for event in inputs["events"].events()
    )


def test_busy_python_is_put_down_to_the_innermost_part_that_is_known() -> None:
    stacks = [
        "main (/a/b.py:3);run (/a/tidemill/app.py:9);send (/b/py4j/client.py:7);recv (/c/socket.py:1) 40",
        "main (/a/b.py:3);run (/a/tidemill/app.py:9);dumps (/c/json/__init__.py:2) 100",
        "wait (/c/threading.py:5) 20",
    ]
    busy = by_part(stacks)
    assert busy == {"py4j": 0.2, "tidemill": 0.5, "other": 0.1}
    assert Seen(busy).told(8.0) == "busy 10.0 % of a core, of that tidemill 63 %, py4j 25 %, other 13 %"
    assert Seen({}).told(8.0) == "no thread was ever busy"


def test_a_wrong_answer_is_told_apart() -> None:
    right = Answer({"a": 1, "b": 2})
    assert Answer({"a": 1, "b": 2}).difference(right) is None
    assert "1 are missing, 1 wrong, 0 too many" in str(Answer({"a": 3}).difference(right))
    rows = Tally()
    rows.add("x")
    rows.add("y")
    other = Tally()
    other.add("y")
    other.add("x")
    assert Answer(tally=other).difference(Answer(tally=rows)) is None
    other.add("x")
    assert Answer(tally=other).difference(Answer(tally=rows)) == "3 rows, 2 expected"


def test_output_is_read_in_every_form() -> None:
    windowed = (b"ann" + (5).to_bytes(8, "big"), (7).to_bytes(8, "big"))
    assert WORKLOADS["W2"].reader("binary")(*windowed)[:2] == ("ann@5", 7)
    assert WORKLOADS["W2"].reader("text")(b"ann@5", b"7")[:2] == ("ann@5", 7)
    assert WORKLOADS["W2"].reader("json")(None, b'{"k": "ann@5", "n": 7}')[:2] == ("ann@5", 7)
    taken_back = b'{"k": "a", "n": 1, "diff": -1, "time": 4}'
    assert WORKLOADS["W1"].reader("json")(None, taken_back) == ("a", None, 8)


def samples(*steps: tuple[float, int, float]) -> list[Sample]:
    return [Sample(at, done, cpu, 100, cpu / 2) for at, done, cpu in steps]


def result(system: str, cpu: float, run: int = 0) -> Result:
    found = Result(system, "W2", ALOS, 1000, 10_000, 4, run)
    found.samples = samples((1, 0, 1), (2, 300, 2), (4, 600, 2 + cpu / 2), (6, 1000, 2 + cpu))
    summarise(found)
    return found


def test_steady_state_begins_in_the_middle() -> None:
    found = result("tidemill", 7)
    assert found.steady_rate == pytest.approx(400 / 2)
    assert found.steady_cpu == pytest.approx(3.5 / 400 * 1e6)
    assert found.total_rate == pytest.approx(1000 / 6)
    assert found.first_progress == 2
    found.samples = samples((1, 0, 1), (5, 900, 2), (6, 1000, 3))
    found.steady_rate = 0
    summarise(found)
    assert found.steady_rate == 0  # one step over most of it says nothing


def test_ratios_come_with_their_spread() -> None:
    found = lines(
        [result("tidemill", 4), result("tidemill", 5, 1), result("kstreams", 8), result("kstreams", 10, 1)]
    )
    mine, other = found["W2", ALOS, "tidemill"], found["W2", ALOS, "kstreams"]
    against = ratio(mine, other)
    assert against is not None
    assert against.low == pytest.approx(8 / 5)
    assert against.high == pytest.approx(10 / 4)
    assert against.low < against.value < against.high


def test_figures_survive_the_file_and_make_a_page(tmp_path: Path) -> None:
    store = Store.begin(tmp_path / "figures.json", "python -m bench all quick")
    store.drains = [result("tidemill", 4), result("kstreams", 8)]
    grown = result("tidemill", 4)
    grown.keys = 100_000
    failed = Result("quix", "W5", ALOS, 10, 10_000, 4, error="TimeoutError: 5 of 10 records\nmore")
    store.drains += [grown, failed]
    for system, cpu in (("tidemill", 6.4), ("kstreams", 10.0)):
        once = result(system, cpu)
        once.guarantee = EOS
        once.steady_rate *= 4 / 6.4 if system == "tidemill" else 0.8
        store.drains.append(once)
    store.latencies = [Latency("kstreams-alos", "W0", 1000, 20, p50=8.0, p95=9.0, p99=19.0)]
    store.lives = [Life("start", "tidemill", ALOS, value=7.5), Life("start", "tidemill", ALOS, value=8.5)]
    store.save()
    again = Store.load(store.file)
    assert page.as_text(again) == page.as_text(store)
    assert "2.00" in page.as_text(again)
    page.write(again, tmp_path)
    (tmp_path / "benchmarks.md").write_text((tmp_path / "benchmarks.md").read_text() + "\nBy hand.\n")
    page.write(again, tmp_path)
    written = (tmp_path / "benchmarks.md").read_text()
    assert written.rstrip().endswith("By hand.")
    assert "| W2 10 s tumbling sum | 1.3 | 2 | 2.00 | 1.56 | yes |" in written
    assert "| W2 10 s tumbling sum | +60% | +60% | +25% | +25% | no |" in written
    assert "| Tidemill | 200 | 200 |" in written
    assert "python -m bench all quick" in written
    assert "TimeoutError: 5 of 10 records" in written
    for name in ("ratios", "throughput", "keys", "latency"):
        ElementTree.parse(tmp_path / "benchmarks" / f"{name}.svg")


def test_readme_quotes_what_the_page_says() -> None:
    """Whoever changes a figure by hand in one of them fails here."""
    root = Path(__file__).parents[2]
    quoted = (root / "README.md").read_text().partition(readme.BEGIN)[2].partition(readme.END)[0]
    written = (root / "docs" / "benchmarks.md").read_text()
    header, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in quoted.splitlines() if "|" in line
    ]
    assert [row[0] for row in rows] == ["at least once", "exactly once"]
    for place, title in enumerate(header[1:], 1):
        ratios = next(
            line for line in written.splitlines() if re.match(rf"\| W\d {title} \| [\d.]+ \| ", line)
        )
        figures = [cell.split()[0] for cell in ratios.strip("| ").split("|")[3:5]]
        assert [row[place] for row in rows] == figures, title


def test_the_readme_gets_its_figures_between_two_marks(tmp_path: Path) -> None:
    store = Store(tmp_path / "figures.json")
    for system, cpu in (("tidemill", 2.0), ("kstreams", 5.0)):
        store.add(Result(system, "W1", ALOS, 10, 10_000, 4, steady_rate=1.0, steady_cpu=cpu))
    for setup, p50 in (
        ("tidemill-realtime", 0.5),
        ("kstreams-alos", 0.75),
        ("tidemill-eos", 90.0),
        ("kstreams-eos", 60.0),
    ):
        store.add(Latency(setup, "sum", 1_000, 20.0, p50=p50, p99=10 * p50))
    file = tmp_path / "README.md"
    file.write_text(f"Before.\n{readme.BEGIN}\nold\n{readme.END}\nAfter.\n")
    readme.write(store, file)
    written = file.read_text()
    assert written.startswith("Before.\n")
    assert written.endswith("\nAfter.\n")
    assert "old" not in written
    assert "| at least once | 2.50 |" in written
    assert "takes 0.50 ms at the median and 5.0 ms" in written
    assert "90 ms exactly once (60)" in written


def test_without_figures_the_page_says_so(tmp_path: Path) -> None:
    page.write(Store(tmp_path / "none.json"), tmp_path)
    assert "No figures have been taken" in (tmp_path / "benchmarks.md").read_text()


def test_a_session_goes_on_after_a_failure_and_ends_with_its_budget(tmp_path: Path) -> None:
    class Stopped:
        def revive(self) -> None:
            raise RuntimeError("no broker")

    store = Store(tmp_path / "figures.json")
    lab = Lab(Stopped(), tmp_path)  # type: ignore[arg-type]
    replace(plan.SESSIONS["quick"], runs=1).carry_out(lab, store)
    assert len(store.broken) == 6
    assert store.errors[0] == "W2 tidemill at_least_once run 1: RuntimeError: no broker"
    assert store.failed
    replace(plan.SESSIONS["full"], budget=-1.0).carry_out(lab, store)
    assert len(store.left_out) > 100
    assert Store.load(store.file).left_out == store.left_out


def test_a_session_that_is_resumed_takes_only_what_it_has_not(tmp_path: Path) -> None:
    class Idle:
        def revive(self) -> None:
            """It runs."""

    def steps(_: plan.Session) -> Iterator[plan.Step]:
        for run in range(3):
            yield plan.Step(f"run {run + 1}", result("quix", 4, run).key, partial(take, run))

    def take(run: int, _: Lab, store: Store) -> str:
        taken.append(run)
        found = result("quix", 4, run)
        found.error = "TimeoutError: too slow" if run == 1 and len(taken) < 4 else None
        store.add(found)
        return "done"

    lab = Lab(Idle(), tmp_path)  # type: ignore[arg-type]
    session = plan.Session(0, 1, steps)
    taken: list[int] = []
    store = Store.begin(tmp_path / "figures.json", "first")
    store.add(result("quix", 5, 0))
    session.carry_out(lab, store)
    assert taken == [1, 2]
    store = Store.begin(store.file, "second", resume=True)
    session.carry_out(lab, store)
    assert taken == [1, 2]
    assert store.errors == ["W2 at_least_once quix: TimeoutError: too slow"]
    assert not store.failed  # what a peer cannot do is told, and fails nothing
    taken.append(3)
    session.carry_out(lab, store, retry=True)
    assert taken == [1, 2, 3, 1]
    assert not store.errors
    assert [piece["command"] for piece in Store.load(store.file).pieces] == ["first", "second"]
    Store.begin(store.file, "anew")
    (aside,) = tmp_path.glob("figures.*.json")
    assert len(Store.load(aside).drains) == 3


def test_sessions_are_merged_and_the_later_one_counts(tmp_path: Path) -> None:
    one, other = Store.begin(tmp_path / "a.json", "a"), Store.begin(tmp_path / "b.json", "b")
    one.add(result("tidemill", 4))
    one.add(result("kstreams", 8))
    other.add(result("tidemill", 2))
    one.merge(other)
    assert "4.00" in page.as_text(one)


def test_no_two_steps_of_a_session_are_the_same() -> None:
    for session in plan.SESSIONS.values():
        keys = [step.key for step in session.steps(session)]
        assert len(keys) == len(set(keys))


def test_charts_have_room_for_the_largest() -> None:
    drawn = charts.bars("t", ["a", "b"], {"x": [1.0, None], "y": [9.0, 3.0]}, mark=1.0)
    assert drawn.count("<rect") == 2 + 3
    assert charts.short(1_234_567) == "1.2M"
    assert charts.short(0.256) == "0.26"


def _alive(pids: list[int]) -> list[str]:
    found = subprocess.run(["ps", "-o", "stat=", "-p", ",".join(map(str, pids))], capture_output=True)
    return [state for state in found.stdout.decode().split() if not state.startswith("Z")]


def test_a_program_is_measured_with_its_children_and_ends_whole(tmp_path: Path) -> None:
    child = "import time\nwhile time.process_time() < 0.5: pass\ntime.sleep(60)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    program = Program([sys.executable, "-c", parent], tmp_path / "log")
    try:
        deadline = time.monotonic() + 30
        while program.usage().cpu < 0.4:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        members = tree(program.pid)
        assert len(members) >= 2
        assert program.usage().rss > 5 << 20
    finally:
        program.kill()
    while _alive(members):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_a_killed_session_left_is_ended_and_nothing_else(tmp_path: Path) -> None:
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    left = Program([*sleep, str(tmp_path / "runs" / "one" / "job.json")], tmp_path / "log")
    other = Program([*sleep, str(tmp_path / "other" / "one" / "job.json")], tmp_path / "log")
    try:
        end_of(tmp_path / "runs")
        deadline = time.monotonic() + 30
        while left.running:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert other.running
    finally:
        left.kill()
        other.kill()


def test_progress_in_files_is_whole_only_by_the_last_word(tmp_path: Path) -> None:
    progress = FileProgress(tmp_path / "progress", 100)
    assert progress.done() == 0
    (tmp_path / "progress.0").write_text("60")
    (tmp_path / "progress.1").write_text("40")
    assert progress.done() == 99
    (tmp_path / "progress").write_text("100")
    assert progress.done() == 100


def test_every_system_is_described() -> None:
    assert all(system.title and system.workloads and system.guarantees for system in SYSTEMS.values())
    assert {name for name in WORKLOADS if name.startswith("W")} <= SYSTEMS["tidemill"].workloads
