"""Files of a checkpoint that do not belong together are refused before Spark sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tidemill.runtime.checkpoint import Checkpoint, DamagedError

OFFSETS = 'v1\n{"batchWatermarkMs":0}\n{"topic":{"0":7}}\n'


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    """Batch 3 is under way: its offsets are written, its end is not."""
    for number in range(4):
        _write(tmp_path / "offsets" / str(number), OFFSETS)
    for number in range(3):
        _write(tmp_path / "commits" / str(number), 'v1\n{"nextBatchWatermarkMs":0}')
    _write(tmp_path / "metadata", json.dumps({"id": "mine"}))
    return Checkpoint(tmp_path, str(tmp_path))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def test_whole_checkpoint_is_accepted(checkpoint, tmp_path):
    checkpoint.verify([])
    checkpoint.verify([(4, "mine"), (3, "mine"), (99, "of another checkpoint")])
    Checkpoint(tmp_path / "new", str(tmp_path / "new")).verify([(5, "mine")])


def test_checkpoint_older_than_the_output_is_refused(checkpoint):
    """As after restoring a backup: its next batches would be taken for done and skipped."""
    with pytest.raises(DamagedError, match="batch 9 has been written to Kafka, but the newest one here is 3"):
        checkpoint.verify([(10, "mine")])


def test_batch_without_offsets_is_refused(checkpoint, tmp_path):
    _write(tmp_path / "commits" / "4", "v1\n{}")
    with pytest.raises(DamagedError, match="batch 4 is finished, but its offsets are missing"):
        checkpoint.verify([])


@pytest.mark.parametrize("text", ["", "v1\n", OFFSETS[:-10], "something else"])
def test_broken_offsets_are_refused(checkpoint, tmp_path, text):
    _write(tmp_path / "offsets" / "3", text)
    with pytest.raises(DamagedError, match="cannot be read"):
        checkpoint.verify([])


def test_checkpoint_without_its_id_is_refused(checkpoint, tmp_path):
    """Spark would make up a new one, and markers of the old would say nothing any more."""
    (tmp_path / "metadata").unlink()
    with pytest.raises(DamagedError, match="metadata"):
        checkpoint.verify([])
