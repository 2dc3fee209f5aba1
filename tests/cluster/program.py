"""An app on a cluster, as a program of its own: the settings are all that tells it from a local one."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from runtime.topologies import echo_and_count
from tidemill import App


def main() -> None:
    master, servers, state_dir, name, failpoint, source, copy, counts = sys.argv[1:]
    App(
        name,
        echo_and_count(source, copy, counts),
        bootstrap_servers=servers,
        master=master,
        state_dir=state_dir,
        tasks=2,
        statestore_cache_max_bytes=0,
        max_offsets_per_trigger=100,
        spark_conf={
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "512m",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
            "spark.executorEnv.TIDEMILL_FAILPOINT": failpoint,
        },
    ).run(until="now")


if __name__ == "__main__":
    main()
