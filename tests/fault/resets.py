"""A reset that dies: whatever step it had done, it is finished by another one, and the app begins anew."""

from __future__ import annotations

import json
import random
import subprocess
import sys

from fault.faults import MissedError, await_refusal, running
from fault.life import PARTITIONS, Life
from tidemill.runtime.reset import STEPS, reset
from tidemill.runtime.reset_plan import ResetRequest, prepare_reset

APP = "main"
POINTS = {name.replace(" ", "-"): name for name, _ in STEPS[:-1]}
"""After which step a reset may be interrupted."""

_KILLED = """
import json, os, signal, sys
from pathlib import Path
from tidemill.kafka.admin import Admin
from tidemill.kafka.settings import Settings
from tidemill.runtime.reset import reset
from tidemill.runtime.reset_plan import ResetRequest, prepare_reset
plan = json.loads(sys.argv[1])
admin, folder = Admin(Settings.of(plan["client"])), Path(plan["folder"])
prepared = prepare_reset(
    admin, plan["id"], folder=folder, checkpoint=str(folder / "checkpoint"), request=ResetRequest()
)
last = plan["last"]
reset(prepared, admin, after_step=lambda step: os.kill(os.getpid(), signal.SIGKILL) if step == last else None)
"""


def killed_after(point: str, life: Life, _chance: random.Random) -> None:
    """The app stops in the middle of its work and is reset; the reset is killed, and done again."""
    app = running(life)
    before = life.done()
    life.feed(400)
    app.until(lambda: life.done() > before)
    assert app.stop() == 0, app.tail()
    if life.done() >= life.due():
        raise MissedError("all the work was done before the reset")
    folder = life.app_folder(APP)
    plan = {
        "client": life.cluster.client_config(),
        "id": life.application_id(APP),
        "folder": str(folder),
        "last": POINTS[point],
    }
    killed = subprocess.run([sys.executable, "-c", _KILLED, json.dumps(plan)], check=False)
    assert killed.returncode == -9
    await_refusal(life.another(), "RESET_UNFINISHED")
    prepared = prepare_reset(
        life.admin,
        life.application_id(APP),
        folder=folder,
        checkpoint=str(folder / "checkpoint"),
        request=ResetRequest(),
    )
    reset(prepared, life.admin)
    # A reset leaves output alone. With that gone too, the app must make all of it again.
    outputs = [workload.output for workload in life.workloads]
    life.admin.delete([life.topic(output) for output in outputs])
    for output in outputs:
        life.admin.create(life.topic(output), partitions=PARTITIONS)
        life.forget(output)
    assert life.done() == 0
    life.start()
    life.finish()
