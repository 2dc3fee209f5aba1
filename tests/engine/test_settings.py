"""What a session is started with: our settings, and how a user's own join them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemill.engine.kernel import kernel_jar
from tidemill.engine.log import write_log_settings
from tidemill.engine.session import LOCAL_CHECKPOINT, is_local_path, session_settings
from tidemill.kafka.jars import resolve

CHECKPOINT = "spark.sql.streaming.checkpointLocation"


def settings(tmp_path: Path, master: str = "local[2]", **conf: str) -> dict[str, str]:
    return session_settings(
        master, log_file=tmp_path / "spark.log", conf={k.replace("__", "."): v for k, v in conf.items()}
    )


def test_time_is_utc_for_sql_and_for_the_jvm(tmp_path: Path) -> None:
    found = settings(tmp_path)
    assert found["spark.sql.session.timeZone"] == "UTC"
    assert "-Duser.timezone=UTC" in found["spark.driver.extraJavaOptions"]


def test_state_is_in_rocksdb_with_changelog_checkpoints(tmp_path: Path) -> None:
    found = settings(tmp_path)
    assert found["spark.sql.streaming.stateStore.providerClass"].endswith("RocksDBStateStoreProvider")
    assert found["spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"] == "true"


def test_replayed_batches_meet_the_same_partitions(tmp_path: Path) -> None:
    found = settings(tmp_path)
    assert found["spark.sql.adaptive.enabled"] == "false"
    assert found["spark.speculation"] == "false"


@pytest.mark.parametrize("who", ["driver", "executor"])
def test_a_jvm_is_told_of_one_collector(tmp_path: Path, who: str) -> None:
    options = f"spark.{who}.extraJavaOptions"
    usual = settings(tmp_path)[options].split()
    assert [option for option in usual if option.endswith("GC")] == ["-XX:+UseParallelGC"]
    chosen = settings(tmp_path, **{options: "-Xss1m -XX:+UseZGC"})[options]
    assert [option for option in chosen.split() if option.endswith("GC")] == ["-XX:+UseZGC"]


@pytest.mark.parametrize(
    ("memory", "heap"),
    [(None, "1536m"), ("512m", "384m"), ("4G", "3072m"), ("1048576k", "768m"), ("2gb", "1536m")],
)
def test_the_heap_begins_with_most_of_its_memory(tmp_path: Path, memory: str | None, heap: str) -> None:
    given = {"spark__driver__memory": memory} if memory else {}
    options = settings(tmp_path, **given)["spark.driver.extraJavaOptions"].split()
    assert [option for option in options if option.startswith("-Xms")] == [f"-Xms{heap}"]


def test_a_memory_nobody_can_read_is_left_to_spark(tmp_path: Path) -> None:
    options = settings(tmp_path, spark__driver__memory="plenty")["spark.driver.extraJavaOptions"]
    assert "-Xms" not in options


@pytest.mark.parametrize(
    ("location", "local"),
    [
        ("/var/lib/app", True),
        ("relative/path", True),
        ("file:///var/lib/app", True),
        ("hdfs://name/app", False),
        ("s3a://bucket/app", False),
        ("abfss://box@account/app", False),
    ],
)
def test_fast_checkpoint_files_are_for_local_paths_only(tmp_path: Path, location: str, local: bool) -> None:
    assert is_local_path(location) is local
    found = session_settings("local[2]", log_file=tmp_path / "log", conf={CHECKPOINT: location})
    assert all((found.get(key) == value) is local for key, value in LOCAL_CHECKPOINT.items())


def test_unknown_checkpoint_location_is_local_only_where_spark_is(tmp_path: Path) -> None:
    assert settings(tmp_path).items() >= LOCAL_CHECKPOINT.items()
    assert not settings(tmp_path, "spark://host:7077").keys() & LOCAL_CHECKPOINT.keys()


def test_a_users_setting_wins(tmp_path: Path) -> None:
    found = settings(tmp_path, spark__sql__shuffle__partitions="7", spark__scheduler__mode="FIFO")
    assert found["spark.sql.shuffle.partitions"] == "7"
    assert found["spark.scheduler.mode"] == "FIFO"


@pytest.mark.parametrize(
    ("key", "separator"),
    [
        ("spark.jars", ","),
        ("spark.driver.extraClassPath", ":"),
        ("spark.driver.extraJavaOptions", " "),
    ],
)
def test_a_users_jars_and_java_options_join_ours(tmp_path: Path, key: str, separator: str) -> None:
    plain = settings(tmp_path)[key]
    both = session_settings("local[2]", log_file=tmp_path / "spark.log", conf={key: "theirs"})[key]
    assert both == f"{plain}{separator}theirs"


def test_kernel_and_connector_go_to_driver_and_executors(tmp_path: Path) -> None:
    found = settings(tmp_path)
    jars = [str(jar) for jar in (kernel_jar(), *resolve("spark-kafka"))]
    assert found["spark.jars"].split(",") == jars
    assert found["spark.driver.extraClassPath"].split(":") == jars


def test_spark_on_this_machine_listens_on_loopback_only(tmp_path: Path) -> None:
    found = settings(tmp_path)
    assert found["spark.driver.bindAddress"] == found["spark.driver.host"] == "127.0.0.1"
    assert found["spark.ui.enabled"] == "false"


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host:443"])
def test_a_cluster_must_reach_the_driver(tmp_path: Path, master: str) -> None:
    assert "spark.driver.bindAddress" not in settings(tmp_path, master)


@pytest.mark.parametrize(("master", "partitions"), [("local", "1"), ("local[3]", "3"), ("local[4,2]", "4")])
def test_one_shuffle_partition_per_core(tmp_path: Path, master: str, partitions: str) -> None:
    assert settings(tmp_path, master)["spark.sql.shuffle.partitions"] == partitions


def test_secrets_are_kept_out_of_what_spark_shows(tmp_path: Path) -> None:
    assert "jaas" in settings(tmp_path)["spark.redaction.regex"]


def test_log_settings_name_their_file_and_are_kept_apart(tmp_path: Path) -> None:
    one, other = write_log_settings(tmp_path / "one.log"), write_log_settings(tmp_path / "other.log")
    assert one != other
    assert one == write_log_settings(tmp_path / "one.log")
    assert f"fileName = {tmp_path}/one.log" in one.read_text()
    assert "rootLogger.level = warn" in one.read_text()
