"""Write docs/images/demo.svg: the view of `tidemill demo` after a real run on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

from tidemill.cli.main import run

TARGET = Path(__file__).resolve().parent.parent / "docs" / "images" / "demo.svg"


def main(arguments: list[str]) -> int:
    """Run the demo, of another example if one is named, and save its last view."""
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    return run(["demo", *arguments, "--seconds", "25", "--picture", str(TARGET), "-O", "jsonl"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
