"""The kernel jar is built with a JDK or without one, and twice the same sources give twice the same bytes."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from tidemill.engine import kernel
from tidemill.errors import SetupError
from tidemill.kafka.java import find_java

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_kernel", ROOT / "tools" / "build_kernel.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def classes(jar: Path) -> set[str]:
    with zipfile.ZipFile(jar) as archive:
        return {name for name in archive.namelist() if name.endswith(".class")}


def test_a_machine_without_a_jdk_builds_the_same_bytes_again(builder: ModuleType, tmp_path: Path) -> None:
    jar = builder.build(tmp_path / "ecj.jar", force_ecj=True)
    assert "io/tidemill/task/TaskProcessor.class" in classes(jar)
    with zipfile.ZipFile(jar) as archive:
        archive.extractall(tmp_path / "later")  # new files, in another order, with the time of today
    builder._write_jar(tmp_path / "later", tmp_path / "again.jar")
    assert (tmp_path / "again.jar").read_bytes() == jar.read_bytes()
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.skipif(find_java().javac is None, reason="this machine has no JDK")
def test_javac_builds_the_same_classes(builder: ModuleType, tmp_path: Path) -> None:
    jar = builder.build(tmp_path / "javac.jar")
    # The two compilers number lambdas and switch helpers differently; named classes are what others see.
    named = {name for name in classes(jar) if "$" not in name}
    assert {
        f"{path.relative_to(builder.SOURCES).with_suffix('.class')}"
        for path in builder.SOURCES.rglob("*.java")
    } == named
    with zipfile.ZipFile(jar) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_missing_kernel_says_how_to_build_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernel, "__file__", str(tmp_path / "kernel.py"))
    with pytest.raises(SetupError, match="make kernel"):
        kernel.kernel_jar()
