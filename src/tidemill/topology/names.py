"""Names: which are allowed, and how one is made from the user's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 249
"""The longest name of a node, store or topic (Kafka's own limit for topics)."""


def problem_with(name: str) -> str | None:
    """Why a name is not allowed, or None.

    >>> problem_with("order totals")
    'has ` ` in it'
    >>> problem_with("order-totals") is None
    True
    """
    if not name:
        return "is empty"
    if name in (".", ".."):
        return "is `.` or `..`"
    if len(name) > LONGEST:
        return f"is {len(name)} characters long"
    bad = _FORBIDDEN.search(name)
    return None if bad is None else f"has `{bad[0]}` in it"


def words(text: str) -> str:
    """Any text as a name: camel case apart, signs as dashes.

    >>> words("RunningTotal"), words(r"orders\\..*")
    ('running-total', 'orders')
    """
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
    lower = apart.lower() if apart != text else text
    return _FORBIDDEN.sub("-", lower.replace("*", "").replace("\\", "").rstrip("."))


def derived(verb: str, origins: Iterable[str]) -> str:
    """The name of a step the user did not name: its verb and where its records come from.

    It depends on nothing but these words, so inserting a line elsewhere never renames a step.

    >>> derived("left_join", ["orders", "users"])
    'left-join-of-orders-and-users'
    """
    return f"{verb.replace('_', '-')}-of-{'-and-'.join(origins)}"


def changelog_topic(application_id: str, store: str) -> str:
    """The topic that logs a store.

    >>> changelog_topic("shop", "totals")
    'shop-totals-changelog'
    """
    return f"{application_id}-{store}-changelog"


def repartition_topic(application_id: str, name: str) -> str:
    """The internal topic of a repartition.

    >>> repartition_topic("shop", "by-city")
    'shop-by-city-repartition'
    """
    return f"{application_id}-{name}-repartition"


_FORBIDDEN = re.compile(r"[^A-Za-z0-9._-]")
