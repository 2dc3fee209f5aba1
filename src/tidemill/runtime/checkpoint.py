"""What an app leaves on disk: Spark's checkpoint, and a note of what it was made by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tidemill.engine.steps import PhysicalPlan, physical_plan
from tidemill.engine.tiers import uses_python
from tidemill.errors import TidemillError
from tidemill.topology import Topology

Offsets = dict[tuple[str, int], int]
"""Offsets by (topic, partition)."""

_VERSION = 1


class IncompatibleError(TidemillError):
    """The state on disk was made by another topology and would mean something else to this one."""

    code = "INCOMPATIBLE_STATE"


class DamagedError(TidemillError):
    """Files of the checkpoint are missing or older than what has been written to Kafka."""

    code = "CHECKPOINT_DAMAGED"


@dataclass(frozen=True, slots=True)
class Note:
    """What must stay the same for a checkpoint to keep its meaning."""

    tasks: int
    depth: int
    levels: Mapping[str, int]
    """Which level keeps a store: Spark finds state by the position of its operator."""
    topology: Mapping[str, Any]
    topics: Mapping[str, Any] = field(default_factory=dict)
    """The source topics: the id of each, and how many partitions it has had."""
    operators: int | None = None
    """How many stateful operators the query has: Spark refuses another number of them."""
    strays: str | None = None
    """A record that is not where Kafka's partitioner puts its key: since then topics meet by a shuffle."""

    @classmethod
    def of(cls, topology: Topology, tasks: int, topics: Mapping[str, Any] | None = None) -> Note:
        """The note of an app that starts for the first time."""
        plan = physical_plan(topology)
        levels = {
            store: plan.levels[topology.store_owner(store).name]
            for store in topology.stores
            if topology.store_owner(store).name in plan.levels
        }
        operators = _operators(topology, plan, levels)
        return cls(tasks, plan.depth, levels, topology.to_json(), topics or {}, operators)

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Note:
        """The note in plain data."""
        return cls(
            data["tasks"],
            data["depth"],
            data["levels"],
            data["topology"],
            data.get("topics", {}),
            data.get("operators"),
            data.get("strays"),
        )


class Checkpoint:
    """The folder of an app. `location` is Spark's checkpoint, which may be elsewhere than the folder."""

    def __init__(self, folder: Path, location: str) -> None:
        self.folder = folder
        self.location = location
        self._note = folder / "app.json"
        self._stop = folder / "stopped"

    @property
    def engine_lock(self) -> Path:
        """The file whose lock the JVM holds."""
        return self.folder / "engine.lock"

    @property
    def log_file(self) -> Path:
        """Spark's log."""
        return self.folder / "logs" / "spark.log"

    def read(self) -> Note | None:
        """The note of earlier runs, None before the first."""
        try:
            data = json.loads(self._note.read_text(encoding="utf-8"))
            return Note.of_json(data)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError) as error:
            raise IncompatibleError(
                f"the note on the app's state cannot be read: {error}",
                where=str(self._note),
                remedy="restore the file from a backup, or reset the app",
            ) from error

    def write(self, note: Note) -> None:
        """Keep a note, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = self._note.with_suffix(".tmp")
        unfinished.write_text(json.dumps({"version": _VERSION, **asdict(note)}, indent=1), encoding="utf-8")
        unfinished.replace(self._note)

    def verify(self, markers: Iterable[tuple[int, str]]) -> None:
        """Refuse files that do not belong together, before Spark makes something else of them.

        `markers` are those of exactly-once: (batch + 1, id of the checkpoint). A batch whose marker is in
        Kafka but whose offsets are not here would be planned anew, with other records, and then be skipped.
        """
        folder = Path(self.location)
        last = _newest(folder / "offsets")
        if last is None:
            return
        try:
            own = str(json.loads((folder / "metadata").read_text(encoding="utf-8"))["id"])
            _check_offsets((folder / "offsets" / str(last)).read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError) as error:
            raise self._damaged(f"a file cannot be read: {error}") from error
        done = _newest(folder / "commits")
        if done is not None and done > last:
            raise self._damaged(f"batch {done} is finished, but its offsets are missing")
        # The client may hand over a few bytes more than were committed, hence "starts with".
        written = max((batch - 1 for batch, note in markers if note.startswith(own)), default=-1)
        if written > last:
            raise self._damaged(
                f"batch {written} has been written to Kafka, but the newest one here is {last}"
            )

    def _damaged(self, what: str) -> DamagedError:
        return DamagedError(
            f"the checkpoint is damaged or too old: {what}",
            where=self.location,
            remedy="restore the newest copy of the state directory, or reset the app",
        )

    def begun(self) -> int | None:
        """The number of a batch that was begun and is not known to be finished; None where all is done."""
        last = _newest(Path(self.location) / "offsets")
        done = _newest(Path(self.location) / "commits")
        return last if last is not None and (done is None or last > done) else None

    def has_offsets(self) -> bool:
        """Whether a batch was ever begun, as far as can be seen from here."""
        return _newest(Path(self.location) / "offsets") is not None

    def stopped(self) -> None:
        """Note that the app stopped between two batches: one that was begun has written nothing."""
        if (batch := self.begun()) is not None:
            self._stop.write_text(str(batch), encoding="utf-8")

    def is_untouched(self, batch: int) -> bool:
        """Whether a batch that was begun has written nothing for sure."""
        try:
            return int(self._stop.read_text(encoding="utf-8")) == batch
        except (OSError, ValueError):
            return False

    def starts(self) -> None:
        """Forget the last stop: from now on a batch may be in work."""
        self._stop.unlink(missing_ok=True)

    def committed(self) -> Offsets:
        """The end of the last batch that is known to be finished; empty where Spark's files are not local."""
        done = _newest(Path(self.location) / "commits")
        if done is None:
            return {}
        try:
            lines = (Path(self.location) / "offsets" / str(done)).read_text(encoding="utf-8").splitlines()
        except OSError:
            return {}
        found: Offsets = {}
        for line in lines[2:]:
            if line.startswith("{"):
                merge_lowest(found, json.loads(line))
        return found


def _operators(topology: Topology, plan: PhysicalPlan, levels: Mapping[str, int]) -> int:
    """How many levels Spark keeps state for; the first may do without (see `engine.levels`)."""
    from tidemill.engine.stateless import is_stateless  # brings Spark in

    if is_stateless(topology) and not uses_python(topology):
        return 0
    first = (
        0 in levels.values()
        or uses_python(topology)
        or bool(topology.global_sources)
        or any(plan.levels.get(step) == 0 for step in plan.keyed)
    )
    return plan.depth - 1 + first


def merge_lowest(into: Offsets, offsets: Mapping[str, Mapping[str, int]]) -> None:
    """Add the offsets of one source; a topic read twice is as far as its slower reader."""
    for topic, partitions in offsets.items():
        for partition, offset in partitions.items():
            key = (topic, int(partition))
            into[key] = min(into.get(key, offset), offset)


def _check_offsets(text: str) -> None:
    """Spark's form: a version, then a line of JSON (or a dash) for the batch and for every source."""
    version, *lines = text.splitlines()
    if not version.startswith("v") or len(lines) < 2:
        raise ValueError("the offsets of the newest batch are not complete")
    for line in lines:
        if line != "-":
            json.loads(line)


def _newest(folder: Path) -> int | None:
    try:
        numbers = [int(path.name) for path in folder.iterdir() if path.name.isdigit()]
    except OSError:
        return None
    return max(numbers, default=None)
