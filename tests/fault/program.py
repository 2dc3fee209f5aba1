"""The program the fault matrix kills: one or several apps on one Spark, told what to do by lines of JSON."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fault.workloads import WORKLOADS
from tidemill import App, StreamsBuilder
from tidemill.errors import TidemillError
from tidemill.runtime import State


def main() -> int:
    plan = json.loads(sys.argv[1])
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    asked = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: asked.set())
    apps = [make_app(one, plan) for one in plan["apps"]]
    try:
        for app in apps:
            app.start()
    except TidemillError as error:
        return failed(error)
    signal.signal(signal.SIGTERM, lambda *_: asked.set())  # PySpark has put its own in place
    threading.Thread(target=obey, args=(apps,), daemon=True).start()
    tell("running")
    while not asked.is_set():
        broken = next((app for app in apps if app.state is State.ERROR), None)
        if broken is not None:
            assert broken.error is not None
            return failed(broken.error)
        time.sleep(0.05)
    for app in apps:
        app.stop()
    tell("stopped")
    return 0


def make_app(one: dict[str, Any], plan: dict[str, Any]) -> App:
    builder = StreamsBuilder()
    streams: dict[str, Any] = {}
    for name in one["workloads"]:
        WORKLOADS[name].build(builder, streams, lambda topic: f"{plan['prefix']}-{topic}")
    return App(one["id"], builder, bootstrap_servers=plan["servers"], **plan["settings"])


def obey(apps: list[App]) -> None:
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    assert context is not None
    jvm: Any = context._jvm
    for line in sys.stdin:
        command = json.loads(line)
        if "failpoint" in command:
            jvm.io.tidemill.sink.Failpoint.reset()
            jvm.System.setProperty("tidemill.failpoint", command["failpoint"])
            tell("armed")
        if "metrics" in command:
            tell("metrics", restarts=sum(app.metrics()["restarts"] for app in apps))
    os._exit(1)  # nobody is there to listen any more


def failed(error: TidemillError) -> int:
    tell("error", code=error.code, text=str(error))
    return int(error.exit_code)


def tell(event: str, **facts: Any) -> None:
    print(json.dumps({"event": event, **facts}), flush=True)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.exit(code)
