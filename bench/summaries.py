"""What the figures amount to: ratios, the cost of exactly-once, growth, and which targets are reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import TypeVar

from bench.drain import Result
from bench.latency import Latency
from bench.lifecycle import KEYS, Life
from bench.store import Store
from bench.systems import ALOS, EOS, SYSTEMS
from bench.table import BASELINE, Figure, Line, Lines, lines, ratio, told
from bench.workloads import WORKLOADS

Run = TypeVar("Run")
Table = tuple[list[str], list[list[str]]]

MUST = {"W0": 0.9, "W1": 3.0, "W2": 1.3, "W3": 3.0, "W4": 1.1, "W5": 1.0, "W6": 1.5, "W7": 1.2}
AIM = {"W0": 1.5, "W1": 5.0, "W2": 2.0, "W3": 5.0, "W4": 2.0, "W5": 2.0, "W6": 3.0, "W7": 2.0}
_GUARANTEES = ((ALOS, "at least once"), (EOS, "exactly once"))
_PEERS = ("pyspark", "quix", "bytewax", "pathway")
_EOS_COST = 0.25
_UNITS = {"start": "s", "recovery": "s", "idle": "cores"}
_TITLES = {
    "start": "start-up to the first result",
    "recovery": "recovery after kill -9",
    "idle": "idle",
}


def usual(results: Iterable[Result]) -> Lines:
    """The runs with the usual number of keys, rows and partitions."""
    return lines(
        run for run in results if run.keys == 10_000 and run.partitions == 4 and run.table_keys is None
    )


def against_baseline(found: Lines, workload: str, guarantee: str) -> Figure | None:
    """Tidemill against Kafka Streams."""
    line = found.get((workload, guarantee, "tidemill"))
    return ratio(line, found.get((workload, guarantee, BASELINE))) if line else None


def per_cpu(line: Line | None) -> float | None:
    """Records per processor second."""
    figure = line.figure(lambda run: run.per_cpu_second) if line else None
    return figure.value if figure else None


def ratios(results: Sequence[Result]) -> Table:
    """Tidemill against Kafka Streams by workload, with both guarantees, beside the targets."""
    found = usual(results)
    header = ["workload", "must", "aim", *(title for _, title in _GUARANTEES), "reached"]
    table = []
    for name, must in MUST.items():
        figures = [against_baseline(found, name, guarantee) for guarantee, _ in _GUARANTEES]
        cells = [
            _ratio_told(figure, found.get((name, guarantee, "tidemill")))
            for figure, (guarantee, _) in zip(figures, _GUARANTEES, strict=True)
        ]
        if set(cells) == {"-"}:
            continue
        known = [figure.value for figure in figures if figure]
        verdict = "aim" if known and min(known) >= AIM[name] else _yes(known and min(known) >= must)
        table.append(
            [
                f"{name} {WORKLOADS[name].title}",
                f"{must:g}",
                f"{AIM[name]:g}",
                *cells,
                verdict if known else "-",
            ]
        )
    return header, table


def peers(results: Sequence[Result]) -> Table:
    """Tidemill against the other libraries, or in words why there is no ratio."""
    found = usual(results)
    measured = [name for name in _PEERS if any(key[2] == name for key in found)]
    header = ["workload", *(f"to {SYSTEMS[name].title}" for name in measured)]
    table = []
    for work in MUST:
        mine = found.get((work, ALOS, "tidemill"))
        cells = []
        for name in measured:
            line = found.get((work, ALOS, name))
            figure = ratio(mine, line) if mine and line else None
            if figure:
                cells.append(f"{figure.value:.1f}x" if figure.value >= 10 else f"{figure.value:.2f}x")
            elif not SYSTEMS[name].can(work, ALOS):
                cells.append("has no means")
            else:
                cells.append("-" if per_cpu(line) else _why(line))
        if any(name == key[2] and key[0] == work for key in found for name in measured):
            table.append([f"{work} {WORKLOADS[work].title}", *cells])
    return header, table


def exactly_once(results: Sequence[Result]) -> Table:
    """What exactly-once costs against at-least-once: processor time and time per record."""
    found = usual(results)
    header = ["workload"]
    for name in ("tidemill", BASELINE):
        header += [f"{SYSTEMS[name].title}, CPU", f"{SYSTEMS[name].title}, time"]
    header.append("under 25 %")
    table = []
    for work in MUST:
        cells, cost = [f"{work} {WORKLOADS[work].title}"], None
        for name in ("tidemill", BASELINE):
            once, often = found.get((work, EOS, name)), found.get((work, ALOS, name))
            for of in (_per_cpu_of, _rate_of):
                lost = _lost(once, often, of)
                cells.append("-" if lost is None else f"{lost:+.0%}")
                if name == "tidemill" and of is _per_cpu_of:
                    cost = lost
        if set(cells[1:]) != {"-"}:
            table.append([*cells, "-" if cost is None else _yes(cost < _EOS_COST)])
    return header, table


def growth(results: Sequence[Result], of: str) -> Table:
    """Records per processor second as keys or partitions of W2, or rows of W4's table grow."""
    chosen = grown(results, of)
    places = sorted({getattr(run, of) for run in chosen})
    table = []
    for name in ("tidemill", BASELINE):
        cells = []
        for place in places:
            line = Line([run for run in chosen if run.system == name and getattr(run, of) == place])
            value = per_cpu(line)
            cells.append(f"{value:,.0f}" if value else _why(line) if line.results else "-")
        table.append([SYSTEMS[name].title, *cells])
    return ["", *(f"{place:,} {of if place > 1 else of[:-1]}" for place in places)], table


GROWING = {"keys": "W2", "partitions": "W2", "rows": "W4"}
"""What grows in which workload."""


def grown(results: Sequence[Result], of: str) -> list[Result]:
    """The runs of a workload that differ in this one thing only."""
    others = {"partitions": 4, "keys": 10_000, "rows": 10_000}
    if of == "keys":
        others.pop("rows")  # no table, or one with a row for each key
    others.pop(of)
    return [
        run
        for run in results
        if run.workload == GROWING[of]
        and run.guarantee == ALOS
        and run.system in ("tidemill", BASELINE)
        and all(getattr(run, name) == usually for name, usually in others.items())
    ]


def latencies(found: Sequence[Latency]) -> Table:
    """Medians over the runs."""
    header = ["records/s", "workload", "setup", "p50 ms", "p95 ms", "p99 ms", "worst ms", "cores", "first s"]
    figures = {"p50": 2, "p95": 2, "p99": 2, "worst": 0, "cpu_share": 2, "first_result": 1}
    table = []
    for runs in by(found, lambda run: (run.rate, run.workload, run.setup)):
        first = runs[0]
        good = [run for run in runs if run.error is None]
        cells = [
            f"{median(getattr(run, name) for run in good):.{digits}f}" if good else "-"
            for name, digits in figures.items()
        ]
        kind = "stateless" if first.workload == "W0" else "sum per key"
        table.append([f"{first.rate:,}", kind, first.setup, *cells, _first_line(run.error for run in runs)])
    return [*header, "error"], table


def lives(found: Sequence[Life]) -> Table:
    """Medians over the runs."""
    header = ["measure", "keys", "system", "guarantee", "value", "unit", "spread", "RSS MiB", "error"]
    table = []
    for runs in by(found, lambda run: (run.measure, run.keys, run.system, run.guarantee)):
        first = runs[0]
        good = [run.value for run in runs if run.error is None]
        rss = [run.rss for run in runs if run.error is None and run.rss]
        table.append(
            [
                _TITLES[first.measure],
                f"{first.keys:,}",
                SYSTEMS[first.system].title,
                first.guarantee,
                f"{median(good):.2f}" if good else "-",
                _UNITS[first.measure],
                f"{min(good):.2f}-{max(good):.2f}" if len(good) > 1 else "",
                f"{median(rss) / 2**20:,.0f}" if rss else "",
                _first_line(run.error for run in runs),
            ]
        )
    return header, table


def targets(store: Store) -> Table:
    """Every other target that something was measured for, and whether it is reached."""
    rows = [*_peer_targets(usual(store.drains)), *_latency_targets(store.latencies)]
    rows += _life_targets(store)
    return ["target", "wanted", "measured", "reached"], rows


def _peer_targets(found: Lines) -> Iterable[list[str]]:
    for name, wanted in (("quix", 10.0), ("pyspark", 0.95)):
        for work in MUST:
            mine, line = found.get((work, ALOS, "tidemill")), found.get((work, ALOS, name))
            figure = ratio(mine, line) if mine and line else None
            if figure:
                least = 4.0 if (name, work) == ("quix", "W0") else wanted
                title = f"{work}, records per processor second to {SYSTEMS[name].title}"
                yield [title, f"{least:g}x", f"{figure.value:.2f}x", _yes(figure.value >= least)]


def _latency_targets(found: Sequence[Latency]) -> Iterable[list[str]]:
    def of(setup: str, workload: str) -> tuple[float, float] | None:
        good = [
            run
            for run in found
            if (run.setup, run.workload, run.rate, run.error) == (setup, workload, 1_000, None)
        ]
        return (median(run.p50 for run in good), median(run.p99 for run in good)) if good else None

    for workload, title, most in (("W0", "stateless", (3, 15)), ("sum", "stateful", (5, 30))):
        mine, other = of("tidemill-realtime", workload), of("kstreams-alos", workload)
        if mine is None:
            continue
        words = f"{mine[0]:.2f} / {mine[1]:.2f} ms"
        reached = mine[0] <= most[0] and mine[1] <= most[1]
        yield [f"real-time {title}, p50 / p99", f"{most[0]} / {most[1]} ms", words, _yes(reached)]
        if other is not None:
            ahead = mine[0] < other[0] and mine[1] < other[1]
            wanted = f"under {other[0]:.2f} / {other[1]:.2f} ms"
            yield [f"real-time {title}, ahead of Kafka Streams", wanted, words, _yes(ahead)]
    if batch := of("tidemill-eos", "sum"):
        yield [
            "exactly-once stateful, p50",
            "under 150 ms",
            f"{batch[0]:.1f} ms",
            _yes(batch[0] < 150),
        ]


def _life_targets(store: Store) -> Iterable[list[str]]:
    for measure, most in (("start", 10.0), ("recovery", 20.0)):
        for guarantee, title in _GUARANTEES:
            good = [
                run.value
                for run in store.lives
                if (run.measure, run.system, run.guarantee, run.error)
                == (measure, "tidemill", guarantee, None)
                and run.keys == KEYS[measure]
            ]
            if good:
                value = median(good)
                words = f"{value:.1f} s"
                yield [f"{_TITLES[measure]}, {title}", f"under {most:g} s", words, _yes(value < most)]
    counts = usual(store.drains).get(("W1", ALOS, "tidemill"))
    if counts and (rss := counts.figure(lambda run: run.peak_rss / 2**30)):
        yield ["RSS of W1", "under 1.5 GiB", f"{rss.value:.2f} GiB", _yes(rss.value < 1.5)]


def by(found: Sequence[Run], key: Callable[[Run], tuple[object, ...]]) -> Iterable[list[Run]]:
    """Runs in groups, in the order they came."""
    grouped: dict[tuple[object, ...], list[Run]] = {}
    for run in found:
        grouped.setdefault(key(run), []).append(run)
    return grouped.values()


def _per_cpu_of(run: Result) -> float:
    return run.per_cpu_second


def _rate_of(run: Result) -> float:
    return run.steady_rate


def _lost(once: Line | None, often: Line | None, of: Callable[[Result], float]) -> float | None:
    """How much more a record costs with the first line than with the second."""
    mine, other = (line.figure(of) if line else None for line in (once, often))
    return other.value / mine.value - 1 if mine and other else None


def _ratio_told(figure: Figure | None, line: Line | None) -> str:
    if figure is None:
        return "-" if line is None else _why(line)
    return told(figure)


def _why(line: Line | None) -> str:
    if line is None:
        return "-"
    return (line.error or "no steady state").splitlines()[0][:80]


def _first_line(errors: Iterable[str | None]) -> str:
    error = next((error for error in errors if error), "")
    return error.splitlines()[0][:80] if error else ""


def _yes(reached: object) -> str:
    return "yes" if reached else "no"
