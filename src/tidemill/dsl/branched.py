"""A stream that is being split into branches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tidemill.dsl import kstream
from tidemill.dsl.handle import Handle
from tidemill.place import here
from tidemill.topology import TopologyError
from tidemill.topology.draft import Draft, Flow
from tidemill.topology.functions import takes_key
from tidemill.topology.nodes import BranchFilter, Condition

Then = Callable[["kstream.KStream"], Any]
"""What becomes of a branch: the function's stream takes its place; one that returns nothing leaves it out."""


class BranchedKStream(Handle):
    """Branches in order; a record goes to the first whose predicate holds."""

    __slots__ = ("_branches", "_conditions", "_prefix")

    def __init__(self, draft: Draft, node: str, flow: Flow, prefix: str | None) -> None:
        super().__init__(draft, node, flow)
        self._prefix = prefix
        self._conditions: list[Condition] = []
        self._branches: dict[str, kstream.KStream] = {}

    def branch(
        self, predicate: Callable[..., Any], *, name: str | None = None, then: Then | None = None
    ) -> BranchedKStream:
        """Add a branch for the records that no earlier one took and of which the predicate holds.

        Without a name it is called by its number, beginning with 1. `then` is called with the branch at once:
        the stream it returns takes the branch's place in the result.

        >>> from tidemill import StreamsBuilder
        >>> split = StreamsBuilder().stream("orders").split(name="size-")
        >>> split = split.branch(lambda value: value > 9, name="big").branch(lambda value: value > 3)
        >>> split.no_default_branch()
        {'size-big': <KStream size-big>, 'size-2': <KStream size-2>}
        """
        condition = Condition(predicate, takes_key("branch", predicate))
        self._add(condition, name or str(len(self._conditions) + 1), then)
        self._conditions.append(condition)
        return self

    def default_branch(
        self, *, name: str | None = None, then: Then | None = None
    ) -> dict[str, kstream.KStream]:
        """End the split with a branch for all other records; all branches by name.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").split().branch(lambda value: value > 9).default_branch()
        {'1': <KStream orders-1>, '0': <KStream orders-0>}
        """
        self._add(None, name or "0", then)
        return self._branches

    def no_default_branch(self) -> dict[str, kstream.KStream]:
        """End the split; records that no branch took are dropped. All branches by name.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").split().branch(lambda value: value > 9).no_default_branch()
        {'1': <KStream orders-1>}
        """
        return self._branches

    def _add(self, condition: Condition | None, name: str, then: Then | None) -> None:
        key = f"{self._prefix or ''}{name}"
        if key in self._branches:
            raise TopologyError(
                f"the split of `{self._node}` has two branches `{key}`",
                node=self._node,
                place=here(),
                remedy="give one another name=",
            )
        words = f"{self._flow.origin}-{name}"
        step = self._draft.worded(self._node, words, key if self._prefix else None)
        earlier = tuple(self._conditions)
        node = BranchFilter(**step, index=len(earlier), condition=condition, earlier=earlier)
        stream = self._stream(node, replace(self._flow, origin=key if self._prefix else words))
        result = stream if then is None else then(stream)
        if result is not None:
            self._branches[key] = result
