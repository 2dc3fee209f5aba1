"""Damage to what an app keeps on disk: a named refusal or the right result, never a silent difference."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fault.faults import running
from fault.life import Life

REFUSALS = ("CHECKPOINT_DAMAGED", "INCOMPATIBLE_STATE", "CHECKPOINT_MISSING", "QUERY_FAILED")
DISK_MB = 24


def damaged(name: str, life: Life, chance: random.Random) -> None:
    """The app died in the middle of a batch; then a file is damaged; then somebody restores it."""
    app = running(life)
    app.arm("after_txn_commit_before_sink_ack:2:kill")
    life.feed()
    app.await_end()
    folder, backup = life.app_folder("main"), life.folder / "backup"
    shutil.rmtree(backup, ignore_errors=True)
    shutil.copytree(folder, backup)
    DAMAGES[name](folder, chance)
    tried = life.start(wait=False)
    tried.until(lambda: tried.seen("running"))
    if tried.alive:
        # It may find out a little later, in its first batch; or the file was not needed.
        tried.until(lambda: life.done() >= life.due())
    if tried.alive:
        life.finish()
        return
    assert tried.await_end() != 0
    assert tried.error is not None, tried.tail()
    assert tried.error["code"] in REFUSALS, tried.error
    life.check_now()
    shutil.rmtree(folder)
    shutil.copytree(backup, folder)
    life.start()
    life.finish()


def disk_full(life: Life, _chance: random.Random) -> None:
    """The disk of the state directory fills up; when there is space again, the app goes on."""
    life.state_dir.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "none", str(life.state_dir)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no right to mount a small file system")
    try:
        app = running(life)
        filler = life.state_dir / "filler"
        _fill(filler)
        life.feed()
        code = app.await_end()
        assert code != 0
        assert app.error is not None, app.tail()
        assert app.error["code"] == "DISK_FULL", app.error
        life.check_now()
        filler.unlink()
        life.start()
        life.finish()
        life.app.stop()
    finally:
        subprocess.run(["umount", "-l", str(life.state_dir)], check=False)


def _fill(file: Path) -> None:
    with file.open("wb", buffering=0) as out:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    out.write(bytes(size))
            except OSError:
                continue


def _newest(folder: Path) -> Path:
    return max((path for path in folder.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))


def _newest_change(folder: Path) -> Path:
    files = list((folder / "checkpoint" / "state").rglob("*.changelog"))
    return max(files, key=lambda path: (int(path.name.split(".")[0].split("_")[0]), path.stat().st_size))


def _flip(file: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(3):
        data[chance.randrange(len(data))] ^= 0xFF
    file.write_bytes(data)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


Damage = Callable[[Path, random.Random], None]
DAMAGES: dict[str, Damage] = {
    "offsets-missing": lambda folder, _: _newest(folder / "checkpoint" / "offsets").unlink(),
    "offsets-empty": lambda folder, _: _newest(folder / "checkpoint" / "offsets").write_bytes(b"") and None,
    "offsets-cut": lambda folder, _: _cut(_newest(folder / "checkpoint" / "offsets")),
    "commits-missing": lambda folder, _: _newest(folder / "checkpoint" / "commits").unlink(),
    "commits-all-missing": lambda folder, _: shutil.rmtree(folder / "checkpoint" / "commits"),
    "metadata-missing": lambda folder, _: (folder / "checkpoint" / "metadata").unlink(),
    "metadata-cut": lambda folder, _: _cut(folder / "checkpoint" / "metadata"),
    "state-change-missing": lambda folder, _: _newest_change(folder).unlink(),
    "state-change-cut": lambda folder, _: _cut(_newest_change(folder)),
    "state-change-flipped": lambda folder, chance: _flip(_newest_change(folder), chance),
    "state-missing": lambda folder, _: shutil.rmtree(folder / "checkpoint" / "state"),
    "note-cut": lambda folder, _: _cut(folder / "app.json"),
    "everything-missing": lambda folder, _: shutil.rmtree(folder),
}
