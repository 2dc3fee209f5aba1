"""The Python peers, each in a venv of its own with pinned packages."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from bench.paths import BUILD

_LOCKS = Path(__file__).parent / "peers" / "requirements"
_SECONDS = 600


@cache
def peer_python(name: str) -> Path:
    """The interpreter that has the peer, which is installed at the first use."""
    lock = _LOCKS / f"{name}.txt"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    folder = BUILD / "venvs" / f"{name}-{digest}"
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv") or "uv"
        _run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)])
        _run([uv, "pip", "sync", "--quiet", "--python", str(python), "--require-hashes", str(lock)])
        (folder / "done").touch()
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(f"does not install here: {said[-1] if said else done.returncode}")
