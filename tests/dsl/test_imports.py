"""Importing is free, and declaring needs no Spark."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("pyspark", "pandas", "pyarrow", "confluent_kafka", "typer", "rich")


def _loaded(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(' '.join(m for m in sys.modules if '.' not in m))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    loaded = _loaded("import tidemill")
    assert not loaded & set(HEAVY)


def test_import_does_not_load_the_front_end() -> None:
    program = "import sys, tidemill; print([m for m in sys.modules if m.startswith('tidemill.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['tidemill._version']"


def test_declaring_loads_no_spark() -> None:
    code = """
from tidemill import *
from tidemill import serdes, windows, suppressed, record
builder = StreamsBuilder()
orders = builder.stream("orders", key=serdes.string, value=serdes.json("amount double"))
hourly = orders.group_by_key().windowed_by(windows.tumbling("1 h")).count(store="hourly")
hourly.suppress(suppressed.until_window_closes()).to_stream().to("out")
builder.build().describe()
"""
    assert not _loaded(code) & set(HEAVY)
