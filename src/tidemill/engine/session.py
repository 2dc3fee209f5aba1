"""The Spark session: the one place that knows every setting Tidemill runs Spark with."""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tidemill.engine.archive import use_options
from tidemill.engine.kernel import kernel_jar
from tidemill.engine.log import write_log_settings
from tidemill.errors import SetupError
from tidemill.kafka.jars import resolve
from tidemill.kafka.java import find_java, spark_java_home
from tidemill.kafka.paths import data_dir

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_session(
    master: str = "local[*]",
    *,
    name: str = "tidemill",
    conf: Mapping[str, str] | None = None,
    log_file: Path | None = None,
) -> SparkSession:
    """Start Spark, or return the session that already runs in this process.

    `master` is passed through: `local[*]`, `spark://host:port`, `yarn`, `k8s://...`. `conf` wins over every
    setting of ours. Spark's own log and the output of its JVM go to `log_file`.

    >>> spark = spark_session("local[2]")  # doctest: +SKIP
    """
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    # It would print every analysis error with its JVM trace, though we tell it in our own words.
    PySparkLogger.getLogger("DataFrameQueryContextLogger").setLevel(logging.CRITICAL + 1)
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    log_file = log_file or data_dir() / "logs" / f"spark-{os.getpid()}.log"
    log_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.environ["JAVA_HOME"] = str(spark_java_home(find_java()))
    # Workers would start whatever `python3` is first on the PATH, which lacks the user's packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in session_settings(master, log_file=log_file, conf=conf).items():
        builder = builder.config(key, value)
    with _stderr_into(log_file):
        try:
            session = builder.getOrCreate()
        except Exception as error:
            raise _no_start(error, log_file) from error
    return session


_LATER_C2 = (
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=2400",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=120000",
)
"""Four times the JVM's own thresholds. Spark plans every batch anew, with a lot of code that is never really
hot; compiling it to the utmost cost as much as the first million records. What records pass through gets
there soon all the same."""

_GC = "-XX:+UseParallelGC"
"""A batch makes much that lives until its end and is then forgotten at once, and nobody waits for a single
record of it. G1 marks and moves that in the background, which took a third of the time with large windows."""

_CHOOSES_GC = re.compile(r"-XX:\+Use\w*GC\b")
"""A JVM that is told of two collectors does not start."""


_MEMORY = "2g"
_SIZE = re.compile(r"(\d+)([kmgt]?)b?", re.IGNORECASE)
_STARTS_WITH = 0.75
"""The part of the driver's memory its heap has from the start. A batch's records live until its end, and a
heap that grows by and by collects and moves them again and again; what is not used yet takes no memory."""


def session_settings(master: str, *, log_file: Path, conf: Mapping[str, str] | None = None) -> dict[str, str]:
    """Every setting of a session, ours first, the user's `conf` on top."""
    given = dict(conf or {})
    jars = [str(jar) for jar in [kernel_jar(), *resolve("spark-kafka")]]
    java_options = [
        f"-Dlog4j2.configurationFile={write_log_settings(log_file).as_uri()}",
        "-Duser.timezone=UTC",
        # What the JVM itself has to say goes to the log too, and into the error when it does not start.
        "-XX:+DisplayVMOutputToStderr",
        # Else the JVM stops for half a second to collect classes it has only just loaded.
        "-XX:MetaspaceSize=256m",
        *_LATER_C2,
        *use_options(),
    ]
    settings = {
        **_STREAMING,
        "spark.jars": ",".join(jars),
        # py4j and the file system class below are looked up by the driver's first class loader.
        "spark.driver.extraClassPath": ":".join(jars),
        "spark.driver.extraJavaOptions": " ".join(java_options),
        # Times in functions of the user must not depend on where a worker stands.
        "spark.executor.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.driver.memory": _MEMORY,
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / "tidemill-warehouse"),
        "spark.sql.shuffle.partitions": str(_cores(master)),
    }
    if master.startswith("local"):
        settings |= _LOOPBACK_ONLY
    checkpoint = given.get("spark.sql.streaming.checkpointLocation")
    if master.startswith("local") if checkpoint is None else is_local_path(checkpoint):
        settings |= LOCAL_CHECKPOINT
    for key in ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"):
        if not _CHOOSES_GC.search(given.get(key, "")):
            settings[key] = f"{settings[key]} {_GC}"
    settings["spark.driver.extraJavaOptions"] += _first_heap(given.get("spark.driver.memory", _MEMORY))
    for key, value in given.items():
        if key in _ADDED_TO and key in settings:
            settings[key] = f"{settings[key]}{_ADDED_TO[key]}{value}"
        else:
            settings[key] = value
    return settings


def _first_heap(memory: str) -> str:
    """The option that says how large the heap is at first; none where the size cannot be read."""
    size = _SIZE.fullmatch(memory.strip())
    if size is None:
        return ""
    megabytes = int(size[1]) * 1024 ** (" kmgt".index(size[2].lower() or " ") - 2)
    return f" -Xms{int(megabytes * _STARTS_WITH)}m" if megabytes >= 1 else ""


def allow_urls(spark: SparkSession, client: Mapping[str, str]) -> None:
    """Let the driver's Kafka clients ask the servers for tokens that the settings name.

    The Java client asks nobody who is not on a list of the JVM's own, since settings may come from strangers.
    These are the user's.
    """
    system: Any = spark._jvm.System  # type: ignore[union-attr]
    known = str(system.getProperty(_ALLOWED_URLS) or "")
    urls = [url for url in known.split(",") if url]
    system.setProperty(_ALLOWED_URLS, ",".join(dict.fromkeys([*urls, *_urls(client)])))


def allowing(client: Mapping[str, str]) -> dict[str, str]:
    """The same as settings, for executors, which begin with theirs."""
    urls = ",".join(_urls(client))
    return {"spark.executor.extraJavaOptions": f"-D{_ALLOWED_URLS}={urls}"} if urls else {}


def _urls(client: Mapping[str, str]) -> list[str]:
    return [value for name, value in client.items() if re.fullmatch(r"sasl\.oauthbearer\..*url", name)]


_ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls"


def is_local_path(location: str) -> bool:
    """Whether a checkpoint location is on this machine's file system."""
    return urlsplit(location).scheme in ("", "file")


#: For checkpoints on a local path only: a rename is atomic there, and no process is forked per file.
COUNTED_BY_SPARK = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"
"""Whether Spark's state store counts its rows; what is in Python cannot do that by itself."""

LOCAL_CHECKPOINT = {
    "spark.hadoop.fs.file.impl": "io.tidemill.spark.FastLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}

SECRETS = "(?i)secret|password|passphrase|token|credential|jaas|ssl.key|api.?key"
"""What the name of a setting has in it whose value Spark is not to show."""

_STREAMING = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Spark asks Kafka for new offsets this often while idle; its default of 10 ms burns a third of a core.
    "spark.sql.streaming.pollingDelay": "100ms",
    # Adaptive execution may merge shuffle partitions: a replayed batch must meet the same ones.
    "spark.sql.adaptive.enabled": "false",
    "spark.scheduler.mode": "FAIR",
    "spark.speculation": "false",
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
    # Our sink and source are not on Spark's list of what real-time mode has been tried with.
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Of settings, and of the options of sources and sinks as plans show them.
    "spark.redaction.regex": SECRETS,
    "spark.sql.redaction.options.regex": f"{SECRETS}|url",
}

_LOOPBACK_ONLY = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}

#: Settings where the user's value joins ours instead of replacing it, and what stands between them.
_ADDED_TO = {
    "spark.jars": ",",
    "spark.driver.extraClassPath": ":",
    "spark.driver.extraJavaOptions": " ",
    "spark.executor.extraJavaOptions": " ",
}


def _cores(master: str) -> int:
    if not master.startswith("local"):
        return 2 * (os.cpu_count() or 2)
    wanted = master.partition("[")[2].partition("]")[0].partition(",")[0]
    return int(wanted) if wanted.isdigit() else (os.cpu_count() or 2) if wanted == "*" else 1


@contextmanager
def _stderr_into(log_file: Path) -> Iterator[None]:
    """Let the JVM that is started inside inherit a file as its standard error, not the user's terminal."""
    sys.stderr.flush()
    kept = os.dup(2)
    with log_file.open("ab") as log:
        os.dup2(log.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)


def _no_start(error: Exception, log_file: Path) -> SetupError:
    tail = log_file.read_text(errors="replace").splitlines()[-5:] if log_file.exists() else []
    said = "\n".join(f"  {line}" for line in tail)
    return SetupError(
        f"Spark did not start: {str(error).strip().splitlines()[0]}\n{said}".rstrip(),
        where=str(log_file),
        remedy="run `tidemill doctor`; the log file has the whole story",
    )
