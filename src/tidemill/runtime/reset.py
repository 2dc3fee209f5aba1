"""Reset: an app forgets everything it has, and begins where it is told.

What is to be done is written down first. Each step may be done twice, so a reset that was interrupted
anywhere is finished by running it again, and the app does not start in between.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tidemill.errors import NotFound, UsageError, VerificationFailed
from tidemill.kafka.admin import Admin
from tidemill.kafka.groups import commit_offsets, delete_group
from tidemill.kafka.private import write_private
from tidemill.runtime.begin import INTENT, write_begin
from tidemill.runtime.lock import InstanceLock, already_running
from tidemill.runtime.record import RECORD

_KEPT = {"lock", "engine.lock", "logs", RECORD, INTENT, "command.json"}
"""What a reset leaves in the app's folder: everything else is state."""
_ORPHAN_SECONDS = 30.0
_LEAVING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Moved:
    """Where one partition of an input topic was, and where the app is to begin."""

    topic: str
    partition: int
    current: int | None
    new: int


@dataclass(frozen=True, slots=True)
class ResetPlan:
    """All that a reset will do, with every offset worked out."""

    application_id: str
    words: str
    """How it was asked for: to tell whether a second call means the same reset."""
    folder: str
    checkpoint: str
    moves: tuple[Moved, ...] = ()
    kept: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Offsets of topics that were not named: the app goes on there."""
    topics: tuple[str, ...] = ()
    """Topics to delete."""
    groups: tuple[str, ...] = ()
    """Groups to delete."""
    left_alone: tuple[str, ...] = ()
    """Topics whose names look like the app's own, though its topology does not know them."""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ResetPlan:
        """The plan of plain data."""
        lists = {name: tuple(data[name]) for name in ("topics", "groups", "left_alone")}
        return cls(**{**data, **lists, "moves": tuple(Moved(**move) for move in data["moves"])})


Step = Callable[[ResetPlan, Admin], None]


def reset(plan: ResetPlan, admin: Admin, *, after_step: Callable[[str], None] | None = None) -> None:
    """Do everything a plan says; refused while the app runs."""
    folder = Path(plan.folder)
    with _alone(plan.application_id, folder):
        if unfinished_reset(folder) not in (None, plan):
            raise VerificationFailed(
                "another reset of this app was interrupted; nothing was changed",
                where=plan.folder,
                remedy="finish that one first",
            )
        for name, step in STEPS:
            step(plan, admin)
            if after_step is not None:
                after_step(name)


def unfinished_reset(folder: Path) -> ResetPlan | None:
    """The plan of a reset that was interrupted."""
    try:
        return ResetPlan.from_json(json.loads((folder / INTENT).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"the note of an interrupted reset cannot be read: {error}",
            where=str(folder / INTENT),
            remedy="delete the file, then reset the app again",
        ) from error


@contextmanager
def _alone(application_id: str, folder: Path) -> Iterator[None]:
    """Nobody else may touch the app meanwhile, nor the JVM of a driver that is gone."""
    lock = InstanceLock(folder)
    lock.acquire(application_id)
    try:
        with (folder / "engine.lock").open("ab") as engine:
            deadline = time.monotonic() + _ORPHAN_SECONDS
            while not _take(engine.fileno()):
                if time.monotonic() > deadline:
                    raise already_running(application_id, folder, "")
                time.sleep(0.1)
            yield
    finally:
        lock.release()


def _take(descriptor: int) -> bool:
    try:
        # The JVM's kind of lock.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _write_intent(plan: ResetPlan, _admin: Admin) -> None:
    write_private(Path(plan.folder) / INTENT, json.dumps(plan.to_json(), indent=1))


def _delete_state(plan: ResetPlan, _admin: Admin) -> None:
    if urlsplit(plan.checkpoint).scheme in ("", "file"):
        _remove(Path(urlsplit(plan.checkpoint).path))
    else:
        from tidemill.engine.checkpoints import delete_tree

        delete_tree(plan.checkpoint)
    for path in Path(plan.folder).iterdir():
        if path.name not in _KEPT and not path.name.startswith("."):
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _delete_topics(plan: ResetPlan, admin: Admin) -> None:
    there = [topic for topic in plan.topics if admin.exists(topic)]
    if there:
        with suppress(NotFound):
            admin.delete(there)


def _delete_groups(plan: ResetPlan, admin: Admin) -> None:
    for group in plan.groups:
        deadline = time.monotonic() + _LEAVING_SECONDS
        while True:
            try:
                delete_group(admin, group)
            except NotFound:
                pass
            except VerificationFailed:
                # A member that was killed is one until its session is over.
                if time.monotonic() < deadline:
                    time.sleep(0.5)
                    continue
                raise
            break


def _commit(plan: ResetPlan, admin: Admin) -> None:
    if plan.moves:
        offsets = {(move.topic, move.partition): move.new for move in plan.moves}
        commit_offsets(admin, plan.application_id, offsets)


def _write_begin(plan: ResetPlan, _admin: Admin) -> None:
    kept = {(topic, int(part)): at for topic, parts in plan.kept.items() for part, at in parts.items()}
    moved = {(move.topic, move.partition): move.new for move in plan.moves}
    write_begin(Path(plan.folder), {**kept, **moved})


def _forget_intent(plan: ResetPlan, _admin: Admin) -> None:
    descriptor = os.open(plan.folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    (Path(plan.folder) / INTENT).unlink(missing_ok=True)


STEPS: tuple[tuple[str, Step], ...] = (
    ("write down what is to be done", _write_intent),
    ("delete the state", _delete_state),
    ("delete topics", _delete_topics),
    ("delete groups", _delete_groups),
    ("move the group", _commit),
    ("write down where to begin", _write_begin),
    ("done", _forget_intent),
)
"""What a reset does, in this order; a step that was done already does nothing."""
