"""An app as a program of its own, with default settings as users run it: measured from outside."""

from __future__ import annotations

import sys

from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, serdes


def main() -> None:
    shape, latency, servers, state_dir, source, target = sys.argv[1:]
    builder = StreamsBuilder()
    stream = builder.stream(source, key=serdes.string, value=serdes.long)
    if shape == "stateless":
        stream.map_values(lambda value: value + 1).to(target)
    else:
        sums = stream.group_by_key().aggregate(lambda key, value: F.sum(value), store="sums")
        sums.to_stream().to(target)
    App(f"measured-{shape}", builder, bootstrap_servers=servers, state_dir=state_dir, latency=latency).run()


if __name__ == "__main__":
    main()
