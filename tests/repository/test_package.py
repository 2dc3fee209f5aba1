"""What is shipped: a light import, a layered package, a whole wheel."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_import_loads_no_spark() -> None:
    check = (
        "import tidemill, sys; assert not {'pyspark', 'confluent_kafka', 'typer', 'rich'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


def test_declaring_a_topology_loads_no_spark() -> None:
    check = (
        "from tidemill import StreamsBuilder, serdes, windows; import sys\n"
        "orders = StreamsBuilder().stream('orders', key=serdes.string, value=serdes.long)\n"
        "orders.group_by_key().windowed_by(windows.tumbling('1 minute')).count().to_stream().to('counts')\n"
        "assert 'pyspark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


def test_imports_point_downwards_only() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (file,) = folder.glob("*.whl")
    return zipfile.ZipFile(file)


@pytest.mark.parametrize(
    "name",
    [
        "tidemill/engine/kernel.jar",
        "tidemill/py.typed",
        "tidemill/kafka/locks/kafka-broker.json",
        "tidemill/examples/rolling_sum/app.py",
        "tidemill/cli/project/Makefile.txt",
    ],
)
def test_wheel_has_what_the_code_needs_at_run_time(wheel: zipfile.ZipFile, name: str) -> None:
    assert wheel.getinfo(name).file_size >= 0
    assert name.endswith("py.typed") or wheel.getinfo(name).file_size > 0


def test_wheel_offers_the_command_and_the_pytest_plugin(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    points = wheel.read(name).decode()
    assert "tidemill = tidemill.cli.main:run" in points
    assert "tidemill = tidemill.testing.plugin" in points


def test_wheel_holds_the_package_alone(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0].split("-")[0] for name in wheel.namelist()}
    assert tops == {"tidemill"}
    assert not [name for name in wheel.namelist() if name.endswith((".pyc", ".java", ".log"))]
