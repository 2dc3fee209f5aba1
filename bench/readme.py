"""The figures that README quotes, put there by the program that measured them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.latency import Latency
from bench.store import Store
from bench.summaries import MUST, against_baseline, usual
from bench.systems import ALOS, EOS
from bench.table import markdown
from bench.workloads import WORKLOADS

BEGIN = "<!-- figures: written by `python -m bench` -->"
END = "<!-- end of figures -->"


def write(store: Store, readme: Path) -> None:
    """Put the figures between their marks; a readme without marks stays as it is."""
    before = readme.read_text() if readme.exists() else ""
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if begin and end:
        readme.write_text(f"{head}{begin}\n\n{quoted(store)}\n\n{end}{tail}")


def quoted(store: Store) -> str:
    """The ratios to Kafka Streams, and the latencies at 1,000 records a second."""
    found = usual(store.drains)
    works = [name for name in MUST if against_baseline(found, name, ALOS)]
    table = []
    for guarantee, title in ((ALOS, "at least once"), (EOS, "exactly once")):
        figures = [against_baseline(found, name, guarantee) for name in works]
        table.append([title, *(f"{figure.value:.2f}" if figure else "-" for figure in figures)])
    parts = [markdown(["", *(WORKLOADS[name].title for name in works)], table)] if works else []
    if sentence := _latency(store.latencies):
        parts.append(sentence)
    return "\n\n".join(parts) or "No figures have been taken for this version yet."


def _latency(found: Sequence[Latency]) -> str:
    real, fast, once, theirs = (
        [run for run in found if _counts(run, setup)]
        for setup in ("tidemill-realtime", "kstreams-alos", "tidemill-eos", "kstreams-eos")
    )
    if not (real and fast and once and theirs):
        return ""

    def part(runs: Sequence[Latency], name: str) -> float:
        return median(float(getattr(run, name)) for run in runs)

    return (
        f"At 1,000 records a second a keyed sum takes {part(real, 'p50'):.2f} ms at the median and "
        f"{part(real, 'p99'):.1f} ms at the 99th percentile in real-time mode (Kafka Streams\n"
        f"tuned for latency: {part(fast, 'p50'):.2f} and {part(fast, 'p99'):.1f}), and "
        f"{part(once, 'p50'):.0f} ms exactly once ({part(theirs, 'p50'):.0f})."
    )


def _counts(run: Latency, setup: str) -> bool:
    return run.setup == setup and run.workload == "sum" and run.rate == 1_000 and run.error is None
