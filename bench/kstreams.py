"""Kafka Streams in Java: compiled from the sources here, run on the jars that the project pins."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache
from pathlib import Path

from bench.paths import BUILD
from tidemill.kafka.jars import resolve
from tidemill.kafka.java import find_java

SOURCES = Path(__file__).parent / "peers" / "kstreams"
_HEAP = "-Xmx2g"


@cache
def compile_sources() -> Path:
    """The folder of classes, compiled by javac, or by the Eclipse compiler where there is only a JRE."""
    sources = sorted(SOURCES.glob("*.java"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    classes = BUILD / "kstreams" / digest
    if (classes / "done").exists():
        return classes
    java = find_java()
    arguments = ["--release", "17", "-d", str(classes), "-cp", _jars(), "-nowarn", *map(str, sources)]
    if java.javac is not None:
        command = [str(java.javac), *arguments]
    else:
        main = "org.eclipse.jdt.internal.compiler.batch.Main"
        command = [str(java.executable), "-cp", str(resolve("ecj")[0]), main, "-proc:none", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    if done.returncode:
        raise RuntimeError(f"the Kafka Streams programs do not compile:\n{done.stdout}{done.stderr}")
    (classes / "done").touch()
    return classes


def command(job_file: Path) -> list[str]:
    """What runs a job."""
    path = f"{compile_sources()}:{SOURCES}:{_jars()}"
    return [str(find_java().executable), _HEAP, "-cp", path, "bench.Main", str(job_file)]


def _jars() -> str:
    return ":".join(str(jar) for jar in resolve("oracle"))
