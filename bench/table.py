"""The table of a drain: medians over the runs, their spread, and the ratio to Kafka Streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from bench.drain import Result
from bench.systems import SYSTEMS

BASELINE = "kstreams"
COLUMNS = (
    "workload",
    "system",
    "rec/CPU-s",
    "ratio",
    "rec/s steady",
    "rec/s from start",
    "CPU-s/M",
    "first",
    "RSS MiB",
    "",
)


@dataclass(frozen=True)
class Figure:
    """A median and how far the runs are apart."""

    value: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """Half the distance of the extremes, as a part of the median."""
        return (self.high - self.low) / 2 / self.value if self.value else 0.0


@dataclass(frozen=True)
class Line:
    """All runs of one system at one task."""

    results: Sequence[Result]

    @property
    def good(self) -> list[Result]:
        """The runs whose answer was right."""
        return [result for result in self.results if result.error is None]

    @property
    def error(self) -> str | None:
        """Why runs failed."""
        return next((result.error for result in self.results if result.error), None)

    def figure(self, of: Callable[[Result], float]) -> Figure | None:
        """A figure over the good runs."""
        values = [value for result in self.good if (value := of(result))]
        return Figure(median(values), min(values), max(values)) if values else None


Lines = dict[tuple[str, str, str], Line]


def lines(results: Iterable[Result]) -> Lines:
    """Results by (task, guarantee, system), in the order they came."""
    grouped: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        grouped.setdefault((task_label(result), result.guarantee, result.system), []).append(result)
    return {key: Line(found) for key, found in grouped.items()}


def task_label(result: Result) -> str:
    """The workload, with what makes it unusual."""
    label = result.workload
    if result.table_keys:
        label += f" ({result.table_keys:,} rows)"
    if result.keys != 10_000 and result.workload != "W1":
        label += f" {result.keys:,} keys"
    if result.partitions != 4:
        label += f" {result.partitions} partition{'s' if result.partitions > 1 else ''}"
    return label


def ratio(line: Line, base: Line | None) -> Figure | None:
    """Records per processor second against the baseline; extremes against extremes."""
    mine = line.figure(lambda result: result.per_cpu_second)
    other = base.figure(lambda result: result.per_cpu_second) if base else None
    if mine is None or other is None or not other.value or not other.low:
        return None
    return Figure(mine.value / other.value, mine.low / other.high, mine.high / other.low)


def rows(results: Sequence[Result]) -> list[list[str]]:
    """The cells of the table."""
    found = lines(results)
    table = []
    order = {system: at for at, system in enumerate(SYSTEMS)}
    for task, guarantee, system in sorted(found, key=lambda key: (_place(key[0]), key[1], order[key[2]])):
        line = found[task, guarantee, system]
        against = ratio(line, found.get((task, guarantee, BASELINE)))
        cpu = line.figure(lambda result: result.per_cpu_second)
        table.append(
            [
                f"{task} {_SHORT[guarantee]}",
                system,
                _with_spread(cpu, line) if cpu else "-",
                told(against) if against else "-",
                _number(line.figure(lambda result: result.steady_rate)),
                _number(line.figure(lambda result: result.total_rate)),
                _number(line.figure(lambda result: result.steady_cpu), 2),
                _number(line.figure(lambda result: result.first_progress), 1),
                _number(line.figure(lambda result: result.peak_rss / 2**20)),
                line.error.splitlines()[0][:80] if line.error else "",
            ]
        )
    return table


def text(header: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Cells in columns, for a terminal."""
    widths = [max(len(row[at]) for row in [header, *cells]) for at in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [header, *cells]
    )


def markdown(header: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Cells as a table of a page."""
    rule = ["---"] * len(header)
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *cells])


def told(ratio: Figure) -> str:
    """A ratio, with the extremes where there are several runs."""
    if ratio.low == ratio.high:
        return f"{ratio.value:.2f}"
    return f"{ratio.value:.2f} ({ratio.low:.2f}-{ratio.high:.2f})"


def _with_spread(figure: Figure, line: Line) -> str:
    return f"{figure.value:,.0f}" + (f" ±{figure.spread:.0%}" if len(line.good) > 1 else "")


def _place(task: str) -> tuple[bool, str]:
    """The usual tasks first."""
    return " " in task, task


def _number(figure: Figure | None, digits: int = 0) -> str:
    return "-" if figure is None else f"{figure.value:,.{digits}f}"


_SHORT = {"at_least_once": "alos", "exactly_once_v2": "eos"}
