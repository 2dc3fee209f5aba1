"""One program of several processes, for peers that use one core each."""

from __future__ import annotations

import subprocess
import sys


def in_processes(count: int) -> int | None:
    """The number of this process, or None in the parent once all its children have ended well."""
    if len(sys.argv) > 2:
        return int(sys.argv[2])
    children = [subprocess.Popen([sys.executable, *sys.argv, str(number)]) for number in range(count)]
    codes = [child.wait() for child in children]
    if any(codes):
        sys.exit(3)
    return None
