"""The picture of the demo: figures, results as they change, the topology, and what to try next."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemill.cli.demo_results import Row
from tidemill.topology import Topology
from tidemill.topology.nodes import Sink, TopicSource
from tidemill.windows import window_text

if TYPE_CHECKING:
    from rich.console import RenderableType

_RATE_SECONDS = 5.0
_MOST_ROWS = 12
_BARS = " ▁▂▃▄▅▆▇█"


@dataclass
class View:
    """All the demo shows; `render` draws it."""

    title: str
    server: str
    topology: Topology
    commands: list[str]
    records_in: int = 0
    records_out: int = 0
    figures: Mapping[str, Any] = field(default_factory=dict)
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    history: dict[tuple[str, str], deque[float]] = field(default_factory=dict)
    batches: deque[float] = field(default_factory=lambda: deque(maxlen=30))
    _pace: deque[tuple[float, int, int]] = field(default_factory=lambda: deque(maxlen=100))
    _began: float = field(default_factory=time.monotonic)

    def take(self, row: Row) -> None:
        """A new result: it takes the place of the last one of its key."""
        key = row.topic, row.name
        self.rows.pop(key, None)
        self.rows[key] = row
        if row.number is not None:
            self.history.setdefault(key, deque(maxlen=24)).append(row.number)

    def update(self, figures: Mapping[str, Any], records_in: int, records_out: int) -> None:
        """New figures of the app, and how many records went in and came out so far."""
        if figures.get("last_batch_id") != self.figures.get("last_batch_id") and figures.get("last_batch_ms"):
            self.batches.append(float(figures["last_batch_ms"]))
        self.figures = figures
        self.records_in, self.records_out = records_in, records_out
        now = time.monotonic()
        self._pace.append((now, records_in, records_out))
        while now - self._pace[0][0] > _RATE_SECONDS:
            self._pace.popleft()

    def rates(self) -> tuple[float, float]:
        """Records per second in and out, over the last seconds."""
        (began, first_in, first_out), (now, last_in, last_out) = self._pace[0], self._pace[-1]
        seconds = now - began
        if not seconds:
            return 0.0, 0.0
        return (last_in - first_in) / seconds, (last_out - first_out) / seconds

    def render(self) -> RenderableType:
        """The whole picture."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        return Group(
            Panel(
                Group(Text(self.title, style="bold"), self._figures()), title="Tidemill", border_style="cyan"
            ),
            Panel(self._results(), title="Results", border_style="green"),
            Panel(Text(shape(self.topology)), title="Topology", border_style="blue"),
            Panel(Text("\n".join(self.commands)), title="Try in another terminal", border_style="magenta"),
            Text("Ctrl-C ends the demo, checks it where it can, and cleans up.", style="dim"),
        )

    def _figures(self) -> RenderableType:
        from rich.table import Table

        pace_in, pace_out = self.rates() if self._pace else (0.0, 0.0)
        figures = self.figures
        dropped = sum((figures.get("dropped") or {}).values())
        table = Table.grid(padding=(0, 3))
        for _ in range(4):
            table.add_column(no_wrap=True)
        table.add_row(
            f"in  [bold]{pace_in:6.1f}[/]/s",
            f"total {self.records_in:,}",
            f"lag {figures.get('lag', 0)}",
            f"Kafka {self.server}",
        )
        table.add_row(
            f"out [bold]{pace_out:6.1f}[/]/s",
            f"total {self.records_out:,}",
            f"dropped {dropped}",
            f"running {time.monotonic() - self._began:.0f} s, exactly once",
        )
        table.add_row(
            f"batch [bold]{figures.get('last_batch_ms') or 0:4}[/] ms",
            f"number {figures.get('last_batch_id') or 0}",
            f"state rows {figures.get('state_rows', 0)}",
            f"batch times {bars(self.batches)}",
        )
        return table

    def _results(self) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for _ in range(5):
            table.add_column(no_wrap=True, overflow="ellipsis")
        newest = sorted(list(self.rows)[-_MOST_ROWS:])
        for key in newest:
            row = self.rows[key]
            table.add_row(
                Text(row.topic, style="dim"),
                Text(row.name, style=row.name if row.name in {"blue", "green", "red"} else "cyan"),
                Text(row.text, style="bold"),
                Text(_clock(row), style="dim"),
                Text(bars(self.history.get(key, ())), style="green"),
            )
        return table


def shape(topology: Topology) -> str:
    """The topology as lines of steps: a line begins at a topic, or where one of several ways goes on."""
    lines: list[str] = []
    for node in topology:
        parent = topology[node.parents[0]] if node.parents else None
        if parent is not None and len(topology.children(parent.name)) == 1:
            continue
        words, at = ([] if parent is None else [_origin(topology, parent)]), node
        while True:
            words.append(_word(at))
            following = topology.children(at.name)
            if len(following) != 1:
                break
            came_by, at = at, following[0]
            if at.parents[0] != came_by.name:  # the other side of a join, told on its own line
                words.append(_word(at))
                break
        words = [word for word in words if word != "to-stream"]
        if len(words) > 1:
            lines.append(" → ".join(words))
    return "\n".join(lines)


def _origin(topology: Topology, node: Any) -> str:
    """Where a way goes on from; that a table is read as a stream is no step to speak of."""
    word = _word(node)
    return _origin(topology, topology[node.parents[0]]) if word == "to-stream" else word


def _word(node: Any) -> str:
    """A step in few words: topics by name, windows in words, what a name says beyond its step left out."""
    if isinstance(node, TopicSource):
        return f"({', '.join(node.topics)})"
    if isinstance(node, Sink):
        return f"({node.topic})"
    name = str(node.name).partition("-of-")[0]
    window = getattr(node, "window", None)
    return f"{name} [{window_text(window)}]" if window is not None else name


def bars(numbers: Any) -> str:
    """Numbers as a line of bars."""
    values = [max(0.0, float(number)) for number in numbers]
    highest = max(values, default=0.0) or 1.0
    return "".join(_BARS[round(value / highest * (len(_BARS) - 1))] for value in values)


def _clock(row: Row) -> str:
    return time.strftime("%H:%M:%S", time.localtime(row.timestamp / 1000))
