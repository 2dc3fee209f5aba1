"""A whole app as a program: run by tests that kill it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from runtime.topologies import echo_and_count
from tidemill import App


def main() -> None:
    servers, state_dir, name, source, copy, counts = sys.argv[1:]
    App(
        name,
        echo_and_count(source, copy, counts, logging=True),
        bootstrap_servers=servers,
        state_dir=state_dir,
        num_stream_threads=2,
        statestore_cache_max_bytes=0,
        max_offsets_per_trigger=40,
        spark_conf={"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1", "spark.driver.memory": "1g"},
    ).run(until="now")


if __name__ == "__main__":
    main()
