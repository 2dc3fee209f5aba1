"""The figures as text for a terminal, and as docs/benchmarks.md with its charts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import TypeVar

from bench import charts
from bench.drain import Result
from bench.latency import Latency
from bench.lifecycle import Life
from bench.store import Store
from bench.systems import ALOS, EOS, SYSTEMS
from bench.table import BASELINE, COLUMNS, Line, lines, markdown, ratio, rows, text
from bench.workloads import WORKLOADS

Run = TypeVar("Run")
_TARGETS = {"W0": 0.9, "W1": 3.0, "W2": 1.3, "W3": 3.0, "W4": 1.1, "W5": 1.0, "W6": 1.5, "W7": 1.2}
_UNITS = {"start": "s", "recovery": "s", "idle": "cores"}
_TITLES = {
    "start": "start-up to the first result",
    "recovery": "recovery after kill -9, a million keys",
    "idle": "idle",
}


def as_text(store: Store) -> str:
    """Every table, for a terminal."""
    parts = []
    if store.drains:
        parts.append(text(COLUMNS, rows(store.drains)))
    if store.latencies:
        parts.append(text(*_latency_table(store.latencies)))
    if store.lives:
        parts.append(text(*_life_table(store.lives)))
    if store.left_out:
        parts.append(f"Left out, the time was over: {'; '.join(store.left_out)}")
    if store.errors:
        parts.append("Failed:\n" + "\n".join(f"- {error}" for error in store.errors))
    return "\n\n".join(parts)


def write(store: Store, docs: Path) -> None:
    """Write the page and its charts."""
    folder = docs / "benchmarks"
    folder.mkdir(exist_ok=True)
    pictures = {name: picture for name, picture in _charts(store).items() if picture}
    for name, picture in pictures.items():
        (folder / f"{name}.svg").write_text(picture)
    measured = "\n\n".join(_sections(store, pictures))
    page = docs / "benchmarks.md"
    before = page.read_text() if page.exists() else ""
    # What is written by hand below the figures stays.
    by_hand = before.partition(_BY_HAND)[2]
    page.write_text(f"{measured}\n\n{_BY_HAND}{by_hand or chr(10)}")


_GENERATED = "<!-- This part is written by `python -m bench`; see bench/page.py. -->"
_NOTHING_YET = """\
No figures have been taken for this version yet. `make bench-full` takes them all and writes them here,
`make bench` gives a table in a quarter of an hour, `make bench-quick` in under four minutes."""
_BY_HAND = "<!-- below: written by hand -->"


def _sections(store: Store, pictures: dict[str, str]) -> list[str]:
    if not (store.drains or store.latencies or store.lives):
        return ["# Benchmarks", _GENERATED, _NOTHING_YET, _words("method")]
    about = store.about
    parts = [
        "# Benchmarks",
        _GENERATED,
        f"Measured on {about['date']}: {about['processor']}, {about['cores']} cores, {about['memory']}, "
        f"{about['system']}, Python {about['python']}, Tidemill {about['tidemill']}; load before the start "
        f"{about['load']}. The broker runs on the same cores. The command:",
        f"```console\n{store.command}\n```",
        _words("method"),
    ]
    if store.drains:
        parts += ["## A backlog, drained", *_shown(pictures, "ratios", "throughput")]
        parts += [_summary(store.drains), "All runs:", markdown(_headed(COLUMNS), rows(store.drains))]
        parts += _shown(pictures, "keys", "partitions")
    if store.latencies:
        parts += [
            "## Latency",
            *_shown(pictures, "latency"),
            _words("method-latency"),
            markdown(*_latency_table(store.latencies)),
        ]
    if store.lives:
        parts += ["## Start, recovery, idle", markdown(*_life_table(store.lives))]
    if store.errors:
        listed = "\n".join(f"- {error.splitlines()[0]}" for error in store.errors)
        parts += ["## What failed", listed]
    if store.left_out:
        parts += [f"Not measured, the time was over: {'; '.join(store.left_out)}."]
    return parts


def _summary(results: Sequence[Result]) -> str:
    """Ratios to Kafka Streams at a glance."""
    found = _usual(results)
    header = ["", *(f"{name} {WORKLOADS[name].title}" for name in _TARGETS)]
    table = [["target", *(f"{target:g}" for target in _TARGETS.values())]]
    for system in SYSTEMS:
        for guarantee, title in ((ALOS, "at least once"), (EOS, "exactly once")):
            cells = []
            for workload in _TARGETS:
                line = found.get((workload, guarantee, system))
                against = line and ratio(line, found.get((workload, guarantee, BASELINE)))
                failed = line is not None and line.error is not None
                cells.append(f"{against.value:.2f}" if against else "failed" if failed else "-")
            if system != BASELINE and set(cells) != {"-"}:
                table.append([f"{SYSTEMS[system].title}, {title}", *cells])
    return "Records per processor second, as a ratio to Kafka Streams:\n\n" + markdown(header, table)


def _latency_table(found: Sequence[Latency]) -> tuple[list[str], list[list[str]]]:
    header = [
        "records/s",
        "workload",
        "setup",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "worst ms",
        "cores",
        "first s",
        "error",
    ]
    table = []
    for runs in _by(found, lambda run: (run.rate, run.workload, run.setup)):
        first = runs[0]
        good = [run for run in runs if run.error is None]
        error = next((run.error for run in runs if run.error), "")
        figures = [
            f"{median(getattr(run, name) for run in good):.{digits}f}" if good else "-"
            for name, digits in (
                ("p50", 1),
                ("p95", 1),
                ("p99", 1),
                ("worst", 0),
                ("cpu_share", 2),
                ("first_result", 1),
            )
        ]
        kind = "stateless" if first.workload == "W0" else "sum per key"
        table.append(
            [f"{first.rate:,}", kind, first.setup, *figures, error.splitlines()[0][:80] if error else ""]
        )
    return header, table


def _life_table(found: Sequence[Life]) -> tuple[list[str], list[list[str]]]:
    header = ["measure", "system", "guarantee", "value", "unit", "spread", "error"]
    table = []
    for runs in _by(found, lambda run: (run.measure, run.system, run.guarantee)):
        first = runs[0]
        good = [run.value for run in runs if run.error is None]
        error = next((run.error for run in runs if run.error), "")
        table.append(
            [
                _TITLES[first.measure],
                SYSTEMS[first.system].title,
                first.guarantee,
                f"{median(good):.2f}" if good else "-",
                _UNITS[first.measure],
                f"{min(good):.2f}-{max(good):.2f}" if len(good) > 1 else "",
                error.splitlines()[0][:80] if error else "",
            ]
        )
    return header, table


def _charts(store: Store) -> dict[str, str]:
    found = _usual(store.drains)
    workloads = [name for name in _TARGETS if any(key[0] == name for key in found)]
    systems = [name for name in SYSTEMS if any(key[2] == name for key in found)]
    made = {}
    if workloads:
        ratios = {
            title: [_ratio(found, name, guarantee) for name in workloads]
            for guarantee, title in ((ALOS, "at least once"), (EOS, "exactly once"))
        }
        kept = {title: values for title, values in ratios.items() if any(values)}
        made["ratios"] = charts.bars(
            "Tidemill : Kafka Streams, records per processor second", workloads, kept, mark=1.0
        )
        per_cpu = {
            SYSTEMS[name].title: [_per_cpu(found.get((work, ALOS, name))) for work in workloads]
            for name in systems
        }
        made["throughput"] = charts.bars("Records per processor second, at least once", workloads, per_cpu)
    made["keys"] = _growth(store.drains, "keys", "Records per processor second as keys grow (W2)")
    made["partitions"] = _growth(
        store.drains, "partitions", "Records per processor second as partitions grow (W2)"
    )
    made["latency"] = _latency_chart(store.latencies)
    return made


def _growth(results: Sequence[Result], of: str, title: str) -> str:
    other = "partitions" if of == "keys" else "keys"
    usual = {"partitions": 4, "keys": 10_000}[other]
    chosen = [
        run
        for run in results
        if run.workload == "W2" and run.guarantee == ALOS and getattr(run, other) == usual
    ]
    places = sorted({getattr(run, of) for run in chosen})
    if len(places) < 2:
        return ""
    systems = [name for name in ("tidemill", "kstreams") if any(run.system == name for run in chosen)]
    series = {
        SYSTEMS[name].title: [
            _per_cpu(Line([run for run in chosen if run.system == name and getattr(run, of) == place]))
            for place in places
        ]
        for name in systems
    }
    return charts.lines(title, [f"{place:,}" for place in places], series)


def _latency_chart(found: Sequence[Latency]) -> str:
    good = [run for run in found if run.error is None and run.rate == 1_000]
    if not good:
        return ""
    setups = list(dict.fromkeys(run.setup for run in good))
    series = {
        f"{kind} {part}": [
            median(values) if (values := _parts(good, setup, workload, part)) else None for setup in setups
        ]
        for workload, kind in (("W0", "stateless"), ("sum", "sum"))
        for part in ("p50", "p99")
    }
    return charts.bars("Latency at 1,000 records/s, ms", setups, series)


def _parts(found: Sequence[Latency], setup: str, workload: str, part: str) -> list[float]:
    return [getattr(run, part) for run in found if run.setup == setup and run.workload == workload]


def _usual(results: Sequence[Result]) -> dict[tuple[str, str, str], Line]:
    return lines(
        run for run in results if run.keys == 10_000 and run.partitions == 4 and run.table_keys is None
    )


def _ratio(found: dict[tuple[str, str, str], Line], workload: str, guarantee: str) -> float | None:
    line = found.get((workload, guarantee, "tidemill"))
    against = line and ratio(line, found.get((workload, guarantee, BASELINE)))
    return against.value if against else None


def _per_cpu(line: Line | None) -> float | None:
    figure = line.figure(lambda run: run.per_cpu_second) if line else None
    return figure.value if figure else None


def _by(found: Sequence[Run], key: Callable[[Run], tuple[object, ...]]) -> Iterable[list[Run]]:
    grouped: dict[tuple[object, ...], list[Run]] = {}
    for run in found:
        grouped.setdefault(key(run), []).append(run)
    return grouped.values()


def _shown(pictures: dict[str, str], *names: str) -> list[str]:
    return [f"![{name}](benchmarks/{name}.svg)" for name in names if name in pictures]


def _words(name: str) -> str:
    return (Path(__file__).parent / f"{name}.md").read_text().strip()


def _headed(header: Sequence[str]) -> list[str]:
    return [name or "error" for name in header]
