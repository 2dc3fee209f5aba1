"""What the right answer is, computed in plain Python from the same facts."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise

from bench.data import BASE_MS, WORDS, Dataset, city_of, user_name

WINDOW_MS = 10_000
JOIN_MS = 5_000
LARGE = 500

Inputs = dict[str, Dataset]


@dataclass
class Tally:
    """A multiset of rows as their number and a sum that does not depend on their order."""

    rows: int = 0
    sum: int = 0

    def add(self, row: str) -> None:
        """Count a row."""
        self.rows += 1
        self.sum = (self.sum + int.from_bytes(blake2b(row.encode(), digest_size=8).digest())) % (1 << 64)


@dataclass
class Answer:
    """Final values by key, or a multiset of rows."""

    finals: dict[str, object] = field(default_factory=dict)
    tally: Tally | None = None

    def difference(self, right: Answer) -> str | None:
        """What is wrong here, compared with the right answer; None if nothing is."""
        if right.tally is not None:
            if self.tally == right.tally:
                return None
            found = self.tally or Tally()
            if found.rows != right.tally.rows:
                return f"{found.rows:,} rows, {right.tally.rows:,} expected"
            return "the number of rows is right, their content is not"
        if self.finals == right.finals:
            return None
        missing = right.finals.keys() - self.finals.keys()
        extra = self.finals.keys() - right.finals.keys()
        wrong = [
            key for key, value in right.finals.items() if key in self.finals and self.finals[key] != value
        ]
        example = next(
            (
                f"; `{key}` is {self.finals.get(key)}, not {right.finals.get(key)}"
                for key in [*wrong, *missing]
            ),
            "",
        )
        return (
            f"of {len(right.finals):,} results {len(missing):,} are missing, {len(wrong):,} wrong, "
            f"{len(extra):,} too many{example}"
        )


def expected(workload: str, inputs: Inputs) -> Answer:
    """The right answer of a workload."""
    return _ANSWERS[workload](inputs)


def large_events(inputs: Inputs) -> Answer:
    """Filter and project."""
    return Answer(
        tally=_tally(
            f"{event.id} {user_name(event.user)} {event.amount * 3}"
            for event in inputs["events"].events()
            if event.amount >= LARGE
        )
    )


def word_counts(inputs: Inputs) -> Answer:
    """How often each word occurs."""
    counts = [0] * WORDS
    for line in inputs["lines"].lines():
        for word in line:
            counts[word] += 1
    return Answer({f"w{word:05d}": count for word, count in enumerate(counts) if count})


def tumbling_sums(inputs: Inputs) -> Answer:
    """The sum of every user and ten seconds."""
    sums: dict[tuple[int, int], int] = defaultdict(int)
    for event in inputs["events"].events():
        sums[event.user, event.at - event.at % WINDOW_MS] += event.amount
    return Answer({f"{user_name(user)}@{start}": total for (user, start), total in sums.items()})


def sliding_sums(inputs: Inputs) -> Answer:
    """The sum of every distinct set of a user's records that fits ten seconds.

    A window ends at each record, and one begins right after each record that is followed by another one
    within ten seconds. Both bounds are inclusive.
    """
    times: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for event in inputs["events"].events():
        times[event.user].append((event.at, event.amount))
    finals: dict[str, object] = {}
    for user, rows in times.items():
        name = user_name(user)
        moments = sorted({at for at, _ in rows})
        starts = {at - WINDOW_MS for at in moments}
        starts |= {at + 1 for at, later in pairwise(moments) if later <= at + 1 + WINDOW_MS}
        finals |= {f"{name}@{start}": total for start, total in _window_sums(rows, sorted(starts))}
    return Answer(finals)


def _window_sums(rows: list[tuple[int, int]], starts: list[int]) -> list[tuple[int, int]]:
    found = []
    inside: deque[tuple[int, int]] = deque()
    total = following = 0
    for start in starts:
        while following < len(rows) and rows[following][0] <= start + WINDOW_MS:
            inside.append(rows[following])
            total += rows[following][1]
            following += 1
        while inside and inside[0][0] < start:
            total -= inside.popleft()[1]
        if inside:
            found.append((start, total))
    return found


def events_with_city(inputs: Inputs) -> Answer:
    """Every event with the city of its user's row, where there is one."""
    known = inputs["table"].records
    return Answer(
        tally=_tally(
            f"{event.id} {event.amount} {city_of(event.user)}"
            for event in inputs["events"].events()
            if event.user < known
        )
    )


def pairs_within_window(inputs: Inputs) -> Answer:
    """Every pair of a left and a right event of one user that are at most five seconds apart."""
    rights: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for event in inputs["right"].events():
        rights[event.user].append((event.at, event.id))
    first: dict[int, int] = defaultdict(int)
    tally = Tally()
    for event in inputs["left"].events():
        partners = rights[event.user]
        at = first[event.user]
        while at < len(partners) and partners[at][0] < event.at - JOIN_MS:
            at += 1
        first[event.user] = at
        while at < len(partners) and partners[at][0] <= event.at + JOIN_MS:
            tally.add(f"{event.id} {partners[at][1]}")
            at += 1
    return Answer(tally=tally)


def joined_tables(inputs: Inputs) -> Answer:
    """The last left and right row of every user that has both."""
    left = {event.user: event for event in inputs["left"].events()}
    right = {event.user: event for event in inputs["right"].events()}
    return Answer(
        {user_name(user): f"{left[user].id} {right[user].id}" for user in left.keys() & right.keys()}
    )


def city_counts(inputs: Inputs) -> Answer:
    """Events per city and ten seconds, of users that have a row."""
    known = inputs["table"].records
    counts: Counter[str] = Counter()
    for event in inputs["events"].events():
        if event.user < known:
            counts[f"{city_of(event.user)}@{event.at - event.at % WINDOW_MS}"] += 1
    return Answer(dict(counts))


def user_sums(inputs: Inputs) -> Answer:
    """The sum of every user."""
    sums: dict[int, int] = defaultdict(int)
    for event in inputs["events"].events():
        sums[event.user] += event.amount
    return Answer({user_name(user): total for user, total in sums.items()})


def _tally(rows: Iterable[str]) -> Tally:
    tally = Tally()
    for row in rows:
        tally.add(row)
    return tally


_ANSWERS: dict[str, Callable[[Inputs], Answer]] = {
    "W0": large_events,
    "W1": word_counts,
    "W2": tumbling_sums,
    "W3": sliding_sums,
    "W4": events_with_city,
    "W5": pairs_within_window,
    "W6": joined_tables,
    "W7": city_counts,
    "sum": user_sums,
}

assert BASE_MS % WINDOW_MS == 0
