"""The figures as text for a terminal, and as docs/benchmarks.md with its charts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench import charts, summaries
from bench.drain import Result
from bench.latency import Latency
from bench.store import Store
from bench.summaries import MUST, against_baseline, grown, per_cpu, usual
from bench.systems import ALOS, EOS, SYSTEMS
from bench.table import COLUMNS, Line, Lines, markdown, rows, text


def as_text(store: Store) -> str:
    """Every table, for a terminal."""
    parts = []
    if store.drains:
        parts.append(text(COLUMNS, rows(store.drains)))
        for title, table in _tables(store.drains).items():
            parts.append(f"{title}:\n\n{text(*table)}")
    if store.latencies:
        parts.append(text(*summaries.latencies(store.latencies)))
    if store.lives:
        parts.append(text(*summaries.lives(store.lives)))
    if (reached := summaries.targets(store))[1]:
        parts.append(text(*reached))
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
    if not store.measurements:
        return ["# Benchmarks", _GENERATED, _NOTHING_YET, _words("method")]
    parts = ["# Benchmarks", _GENERATED, *_about(store.pieces), _words("method")]
    if store.drains:
        parts += ["## A backlog, drained", *_shown(pictures, "ratios", "throughput")]
        for title, table in _tables(store.drains).items():
            parts += [f"### {title}", markdown(*table)]
            parts += _shown(pictures, *_BESIDE.get(title, ()))
        parts += ["### All runs", markdown(_headed(COLUMNS), rows(store.drains))]
    if store.latencies:
        parts += [
            "## Latency",
            *_shown(pictures, "latency"),
            _words("method-latency"),
            markdown(*summaries.latencies(store.latencies)),
        ]
    if store.lives:
        parts += ["## Start, recovery, idle", markdown(*summaries.lives(store.lives))]
    if (reached := summaries.targets(store))[1]:
        parts += ["## Other targets", markdown(*reached)]
    if store.errors:
        listed = "\n".join(f"- {error.splitlines()[0]}" for error in store.errors)
        parts += ["## What failed", listed]
    if store.left_out:
        parts += [f"Not measured, the time was over: {'; '.join(store.left_out)}."]
    return parts


def _about(pieces: Sequence[dict[str, str]]) -> list[str]:
    def all_of(name: str, between: str = ", ") -> str:
        return between.join(dict.fromkeys(piece[name] for piece in pieces))

    first, last = pieces[0], pieces[-1]
    until = f" to {last['date']}" if last["date"] != first["date"] else ""
    commands = all_of("command", "\n")
    return [
        f"Measured on {first['date']}{until}: {all_of('processor')}, {all_of('cores')} cores, "
        f"{all_of('memory')}, {all_of('system')}, Python {all_of('python')}, Tidemill {all_of('tidemill')}; "
        f"load before the start {first['load']}. The broker runs on the same cores; Spark started "
        f"{all_of('archive', ' and ')} the class archive of `tidemill dev fetch`. "
        + ("The commands:" if "\n" in commands else "The command:"),
        f"```console\n{commands}\n```",
    ]


_COST = "Cost of exactly-once"
_KEYS = "Growth of keys (W2, records per processor second)"
_PARTITIONS = "Growth of partitions (W2, records per processor second)"
_ROWS = "Growth of a joined table (W4, records per processor second)"
_BESIDE = {_KEYS: ("keys",), _PARTITIONS: ("partitions",), _ROWS: ("rows",)}


def _tables(results: Sequence[Result]) -> dict[str, summaries.Table]:
    tables = {
        "Records per processor second, as a ratio to Kafka Streams": summaries.ratios(results),
        "Records per processor second, as a ratio to other libraries": summaries.peers(results),
        _COST: summaries.exactly_once(results),
    }
    for of, title in (("keys", _KEYS), ("partitions", _PARTITIONS), ("rows", _ROWS)):
        if len({getattr(run, of) for run in grown(results, of)}) > 1:
            tables[title] = summaries.growth(results, of)
    return {title: table for title, table in tables.items() if len(table[0]) > 1 and table[1]}


def _charts(store: Store) -> dict[str, str]:
    found = usual(store.drains)
    workloads = [name for name in MUST if any(key[0] == name for key in found)]
    systems = [name for name in SYSTEMS if any(key[2] == name for key in found)]
    made = {}
    if workloads:
        ratios = {
            title: [_against(found, name, guarantee) for name in workloads]
            for guarantee, title in ((ALOS, "at least once"), (EOS, "exactly once"))
        }
        kept = {title: values for title, values in ratios.items() if any(values)}
        made["ratios"] = charts.bars(
            "Tidemill : Kafka Streams, records per processor second", workloads, kept, mark=1.0
        )
        by_system = {
            SYSTEMS[name].title: [per_cpu(found.get((work, ALOS, name))) for work in workloads]
            for name in systems
        }
        made["throughput"] = charts.bars("Records per processor second, at least once", workloads, by_system)
    made["keys"] = _growth(store.drains, "keys", "Records per processor second as keys grow (W2)")
    made["partitions"] = _growth(
        store.drains, "partitions", "Records per processor second as partitions grow (W2)"
    )
    made["rows"] = _growth(store.drains, "rows", "Records per processor second as the table grows (W4)")
    made["latency"] = _latency_chart(store.latencies)
    return made


def _growth(results: Sequence[Result], of: str, title: str) -> str:
    chosen = grown(results, of)
    places = sorted({getattr(run, of) for run in chosen})
    if len(places) < 2:
        return ""
    systems = [name for name in ("tidemill", "kstreams") if any(run.system == name for run in chosen)]
    series = {
        SYSTEMS[name].title: [
            per_cpu(Line([run for run in chosen if run.system == name and getattr(run, of) == place]))
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


def _against(found: Lines, workload: str, guarantee: str) -> float | None:
    figure = against_baseline(found, workload, guarantee)
    return figure.value if figure else None


def _shown(pictures: dict[str, str], *names: str) -> list[str]:
    return [f"![{name}](benchmarks/{name}.svg)" for name in names if name in pictures]


def _words(name: str) -> str:
    return (Path(__file__).parent / f"{name}.md").read_text().strip()


def _headed(header: Sequence[str]) -> list[str]:
    return [name or "error" for name in header]
