"""Starting is fast, because nothing heavy is imported before it is needed."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

HELP = [sys.executable, "-m", "tidemill.cli.main", "--help"]


def test_help_takes_little_time(tmp_path: Path) -> None:
    """CPU time as of an installed package, with compiled modules; the first run compiles them."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    times = []
    for _ in range(4):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(HELP, check=True, capture_output=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times[1:]) < 0.3, times


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import tidemill", ["pyspark", "confluent_kafka", "typer", "rich", "yaml"]),
        ("import tidemill.cli.main", ["pyspark", "confluent_kafka", "rich", "yaml", "tomllib"]),
        ("import tidemill.kafka.clients, tidemill.kafka.groups", ["pyspark", "confluent_kafka"]),
        (
            "from tidemill.cli.main import run; run(['topics', 'list', '--help'])",
            ["pyspark", "confluent_kafka", "rich", "yaml"],
        ),
    ],
)
def test_nothing_heavy_is_imported(code: str, absent: list[str]) -> None:
    found = f"[name for name in {absent!r} if name in sys.modules]"
    check = f"import sys\n{code}\nassert not {found}, {found}"
    subprocess.run([sys.executable, "-c", check], check=True, capture_output=True)
