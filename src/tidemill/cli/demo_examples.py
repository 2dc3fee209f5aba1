"""The examples the demo can run: where they are, what they are called, and what feeds them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tidemill
from tidemill.datagen.ready import READY
from tidemill.datagen.schema import Schema
from tidemill.errors import NotFound, UsageError
from tidemill.topology import Topology

if TYPE_CHECKING:
    from tidemill.dsl import StreamsBuilder


@dataclass(frozen=True)
class Example:
    """An example with a topology."""

    name: str
    title: str
    path: Path

    def build(self) -> Topology:
        """Its topology."""
        return self.load()[0]

    def load(self) -> tuple[Topology, dict[str, Any]]:
        """Its topology, and the settings its app needs.

        The module is not registered: Spark's workers get its functions by value.
        """
        spec = spec_from_file_location(f"tidemill_example_{self.path.parent.name}", self.path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        builder: StreamsBuilder = module.build()
        return builder.build(), dict(getattr(module, "SETTINGS", {}))


def examples_folder() -> Path:
    """Beside the package where it was installed, in the root of a clone otherwise."""
    package = Path(tidemill.__file__).parent
    for folder in (package / "examples", package.parents[1] / "examples"):
        if (folder / "rolling_sum" / "app.py").exists():
            return folder
    raise NotFound("the examples are not there", where=str(package), remedy="install Tidemill again")


def examples() -> dict[str, Example]:
    """All examples with a topology, by the name the demo knows them by."""
    found = {}
    for path in sorted(examples_folder().glob("*/app.py")):
        text = path.read_text(encoding="utf-8")
        if "def build(" in text:
            name = path.parent.name.replace("_", "-")
            title = (ast.get_docstring(ast.parse(text)) or name).splitlines()[0]
            found[name] = Example(name, title, path)
    return found


def example(name: str) -> Example:
    """One example by its name."""
    known = examples()
    wanted = name.replace("_", "-")
    if wanted in known:
        return known[wanted]
    if (examples_folder() / name.replace("-", "_") / "app.py").exists():
        raise UsageError(
            f"`{name}` uses Kafka's clients alone, there is nothing to watch",
            remedy=f"run it: python {examples_folder() / name.replace('-', '_') / 'app.py'}",
        )
    near = get_close_matches(wanted, known, n=1)
    raise UsageError(
        f"there is no example `{name}`",
        remedy=f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(known)}",
    )


def feeds(topology: Topology, rate: float | None) -> list[Schema]:
    """What the topics of a topology are fed with: the ready set of the same name, or the same last word."""
    found = []
    tables = {topic for source in topology.sources if hasattr(source, "store") for topic in source.topics}
    for topic in topology.source_topics:
        if topic not in topology.sink_topics:
            schema = READY.get(topic) or READY[topic.rpartition("-")[2]]
            own = schema.rate if rate is None or topic in tables else rate
            found.append(replace(schema, topic=topic, rate=own))
    return found
