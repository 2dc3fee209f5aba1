"""Build the Java kernel: kernel/src -> src/tidemill/engine/kernel.jar.

Uses javac where there is one, else the Eclipse compiler jar on the Java that Tidemill itself would use, so a
machine with nothing but Python can build it. The jar is byte-for-byte reproducible.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tidemill.kafka.jars import resolve
from tidemill.kafka.java import Java, find_java

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "kernel" / "src"
TARGET = ROOT / "src" / "tidemill" / "engine" / "kernel.jar"
JAVA_RELEASE = "17"


def build(target: Path = TARGET, *, force_ecj: bool = False) -> Path:
    """Compile every source and write the jar; raises SystemExit with the compiler's words on an error."""
    sources = sorted(SOURCES.rglob("*.java"))
    with tempfile.TemporaryDirectory(prefix="tidemill-kernel-") as folder:
        classes = Path(folder)
        _compile(find_java(), sources, classes, force_ecj=force_ecj)
        _write_jar(classes, target)
    digest = hashlib.sha256(target.read_bytes()).hexdigest()[:12]
    print(f"kernel: {len(sources)} sources -> {os.path.relpath(target, ROOT)} ({digest})")
    return target


def _compile(java: Java, sources: list[Path], classes: Path, *, force_ecj: bool) -> None:
    connector = [str(jar) for jar in resolve("spark-kafka")]
    classpath = ":".join([f"{_spark_jars()}/*", *connector])
    arguments = ["-d", str(classes), "-cp", classpath, "-nowarn", *map(str, sources)]
    if java.javac is not None and not force_ecj:
        command = [
            str(java.javac),
            "--release",
            JAVA_RELEASE,
            "-parameters",
            "-encoding",
            "UTF-8",
            *arguments,
        ]
    else:
        # ecj does not expand a wildcard class path.
        arguments[3] = ":".join([*(str(jar) for jar in sorted(_spark_jars().glob("*.jar"))), *connector])
        compiler = [
            str(java.executable),
            "-cp",
            str(resolve("ecj")[0]),
            "org.eclipse.jdt.internal.compiler.batch.Main",
        ]
        command = [
            *compiler,
            "--release",
            JAVA_RELEASE,
            "-parameters",
            "-encoding",
            "UTF-8",
            "-proc:none",
            *arguments,
        ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"The kernel does not compile:\n{result.stdout}{result.stderr}")


def _spark_jars() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        sys.exit("pyspark is not installed; `make venv` installs it")
    return Path(spec.origin).parent / "jars"


def _write_jar(classes: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".jar.tmp")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as jar:
        jar.writestr(_entry("META-INF/MANIFEST.MF"), "Manifest-Version: 1.0\r\nCreated-By: tidemill\r\n\r\n")
        for path in sorted(classes.rglob("*.class")):
            jar.writestr(_entry(path.relative_to(classes).as_posix()), path.read_bytes())
        for path in sorted(p for p in SOURCES.rglob("META-INF/**/*") if p.is_file()):
            jar.writestr(_entry(path.relative_to(SOURCES).as_posix()), path.read_bytes())
    unfinished.replace(target)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


if __name__ == "__main__":
    build(force_ecj="--ecj" in sys.argv[1:])
