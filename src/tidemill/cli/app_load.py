"""Finds the app in a user's file: `shop.py`, `shop.py:orders`, `shop.streams:orders`."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tidemill.errors import NotFound, TidemillError, UsageError

if TYPE_CHECKING:
    from tidemill.runtime import App
    from tidemill.topology import Topology

_NAMES = ("app", "builder", "topology")
_MAKER = "build"
"""The function that makes a topology in our examples, and in a project of `tidemill new`."""


class ProgramError(TidemillError):
    """The user's file raised an exception while it was loaded."""

    code = "PROGRAM"


def load_app(where: str, application_id: str | None = None) -> App:
    """The app of a file; what builds a topology becomes one under `application_id`."""
    from tidemill.runtime import App

    found = _find(where)
    if isinstance(found, App):
        if application_id not in (None, found.application_id):
            raise UsageError(
                f"the app in `{where}` has the id `{found.application_id}` already",
                remedy="leave --application-id out",
            )
        return found
    if application_id is None:
        raise UsageError(
            f"`{where}` has a topology, and no app with an id",
            remedy="say --application-id, or make an App(id, builder) in the file",
        )
    return App(application_id, found)


def load_topology(where: str) -> Topology:
    """The topology of a file."""
    from tidemill.runtime import App
    from tidemill.topology import Topology

    found = _find(where)
    if isinstance(found, App):
        return found.topology
    built: Topology = found if isinstance(found, Topology) else found.build()
    return built


def _find(where: str) -> Any:
    place, _, name = where.rpartition(":") if ":" in where else (where, "", "")
    module = _module(place)
    things = vars(module)
    if name:
        if name not in things:
            near = ", ".join(sorted(_usable(things))) or "none"
            raise NotFound(
                f"there is no `{name}` in the file; apps and topologies in it: {near}", where=place
            )
        return _made(things[name], where)
    usable = _usable(things)
    for wanted in _NAMES:
        if wanted in usable:
            return usable[wanted]
    if len({id(thing) for thing in usable.values()}) == 1:
        return next(iter(usable.values()))
    if usable:
        raise UsageError(
            f"there are several apps or topologies in the file: {', '.join(sorted(usable))}",
            where=place,
            remedy=f"say which one: {place}:{min(usable)}",
        )
    if callable(things.get(_MAKER)):
        return _made(things[_MAKER], where)
    raise UsageError(
        "there is no app in the file",
        where=place,
        remedy="make one at the top level: app = App(id, builder), or name a function that makes one",
    )


def _made(thing: Any, where: str) -> Any:
    if not _is_usable(thing) and callable(thing):
        thing = _guarded(thing, where)
    if not _is_usable(thing):
        raise UsageError(
            f"a {type(thing).__name__} is no app", where=where, remedy="name an App, a builder or a Topology"
        )
    return thing


def _usable(things: Mapping[str, Any]) -> dict[str, Any]:
    """Apps, or where there is none, what an app can be made of."""
    from tidemill.runtime import App

    found = {name: thing for name, thing in things.items() if _is_usable(thing)}
    return {name: thing for name, thing in found.items() if isinstance(thing, App)} or found


def _is_usable(thing: Any) -> bool:
    from tidemill.dsl import StreamsBuilder, TopologyBuilder
    from tidemill.runtime import App
    from tidemill.topology import Topology

    return isinstance(thing, App | StreamsBuilder | TopologyBuilder | Topology)


def _module(place: str) -> ModuleType:
    path = Path(place)
    if path.suffix != ".py":
        return _package_module(place)
    if not path.is_file():
        raise NotFound("there is no such file", where=place, remedy="give the path of a Python file")
    # As `python FILE` does; workers that Spark starts on this machine get it too.
    folder = str(path.resolve().parent)
    _put_on_path(folder)
    name = f"tidemill_app_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader = spec.loader
    _guarded(lambda: loader.exec_module(module), place)
    from tidemill.engine.shipping import ship_by_value

    ship_by_value(module)
    return module


def _package_module(name: str) -> ModuleType:
    _put_on_path(str(Path.cwd()))
    try:
        missing = importlib.util.find_spec(name) is None
    except (ImportError, ValueError):
        missing = True
    if missing:
        raise NotFound("there is no such file or module", where=name, remedy="give FILE.py or package.module")
    module: ModuleType = _guarded(lambda: importlib.import_module(name), name)
    return module


def _put_on_path(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if folder not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([folder, *filter(None, paths)])


def _guarded(call: Any, where: str) -> Any:
    """What the user's code raises, told with its line and without our own."""
    try:
        return call()
    except TidemillError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, SyntaxError):
            line = f"{error.filename}:{error.lineno}"
        else:
            frames = [
                frame for frame in traceback.extract_tb(error.__traceback__) if _is_users(frame.filename)
            ]
            line = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else where
        raise ProgramError(
            f"the program cannot be loaded: {type(error).__name__}: {error}",
            where=line,
            remedy="correct it; `python FILE` shows the whole trace",
        ) from error


def _is_users(file: str) -> bool:
    return "importlib" not in file and not file.startswith(_OURS)


_OURS = str(Path(__file__).parents[1])
