"""What must hold of a topology: pure rules in one ordered tuple, each naming node, line and remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tidemill.topology.errors import TopologyError
from tidemill.topology.graph import Topology
from tidemill.topology.rules import emission, functions, logging, naming, shape, stores, topics

Rule = Callable[[Topology], Iterator[TopologyError]]

RULES: tuple[Rule, ...] = (
    naming.names_are_allowed,
    shape.parents_exist,
    shape.there_are_no_cycles,
    shape.there_is_a_source,
    shape.parents_are_of_the_right_kind,
    topics.sources_agree_on_serdes,
    topics.topic_sets_are_equal_or_apart,
    topics.sinks_have_a_topic,
    topics.repartitions_have_no_topic,
    stores.store_names_are_unique,
    stores.retention_covers_the_window,
    logging.only_tables_are_logged,
    logging.logged_windows_know_their_keys,
    emission.close_is_emitted_only_where_windows_close,
    emission.sessions_can_merge,
    emission.suppress_knows_the_window,
    emission.grace_joins_have_history,
    functions.python_is_called_where_it_can_be,
)
"""Earlier rules make later ones meaningful, so the first problem is the one to mend."""


def problems(topology: Topology) -> Iterator[TopologyError]:
    """All problems of a topology; a rule that depends on a broken one is not asked."""
    for rule in RULES:
        found = list(rule(topology))
        yield from found
        if found and rule in RULES[:3]:
            return


def validate(topology: Topology) -> Topology:
    """The topology itself, or the first of its problems.

    >>> from tidemill.topology.nodes import Sink
    >>> validate(Topology.of([Sink(name="out", parents=("in",), topic="copy")]))
    Traceback (most recent call last):
    tidemill.topology.errors.TopologyError: `out` reads from `in`, which does not exist (node `out`)
    ...
    """
    for problem in problems(topology):
        raise problem
    return topology
