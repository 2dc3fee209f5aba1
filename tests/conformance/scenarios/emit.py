"""Results on window close."""

from conformance.cases import LONG_RETENTION, case, into
from oracle.spec import (
    LONG,
    Aggregate,
    Config,
    GroupByKey,
    Hopping,
    Session,
    Sliding,
    Stream,
    Tumbling,
    Window,
)

_ON_DISK = Config(in_memory=False)
_ALL_FINALS = "every closed window gives its final result; the library loses some when stream time jumps"


def _on_close(window: Window) -> Aggregate:
    return Aggregate(GroupByKey(Stream("in", LONG)), "cat", window, on_close=True)


CASES = [
    case(
        "on_close_hopping_by_the_bytes_of_the_keys",
        _on_close(Hopping(10, 5)),
        into("in", ("b", 1, 62), ("ab", 2, 62), ("a", 3, 63), ("b", 4, 181)),
        config=LONG_RETENTION,
    ),
    case(
        "on_close_tumbling_with_grace",
        _on_close(Tumbling(10, grace=2)),
        into(
            "in",
            ("a", 1, 1),
            ("b", 2, 5),
            ("a", 3, 10),
            ("a", 4, 3),
            ("a", 5, 11),
            ("a", 6, 12),
            ("a", 7, 3),
            ("b", 8, 40),
            ("a", 9, 80),
        ),
        golden="emit on close tumbling grace 2",
        form="cat",
        config=Config(cache=True, in_memory=False),
    ),
    case(
        "on_close_tumbling_loses_finals_on_a_jump_without_cache",
        _on_close(Tumbling(10, grace=2)),
        into("in", ("a", 1, 1), ("b", 2, 5), ("a", 3, 10), ("a", 6, 12), ("b", 8, 40), ("a", 9, 80)),
        config=_ON_DISK,
        deviation=_ALL_FINALS,
    ),
    *(
        case(
            f"on_close_{type(window).__name__.lower()}_gives_every_final_while_its_store_remembers",
            _on_close(window),
            into("in", ("a", 1, 21), ("b", 2, 25), ("a", 3, 30), ("a", 6, 32), ("b", 8, 70), ("a", 9, 190)),
            config=LONG_RETENTION,
        )
        for window in (Tumbling(10, grace=2), Hopping(10, 5), Sliding(10, grace=2), Session(10, grace=2))
    ),
    case(
        "on_close_sliding",
        _on_close(Sliding(10)),
        into("in", ("a", 1, 20), ("a", 2, 25), ("a", 3, 31), ("a", 4, 36), ("a", 5, 60)),
        golden="emit on close sliding",
        form="cat",
        config=_ON_DISK,
        deviation=_ALL_FINALS,
    ),
    case(
        "on_close_session",
        _on_close(Session(10)),
        into("in", ("a", 1, 0), ("a", 2, 5), ("b", 3, 15), ("b", 4, 16), ("b", 5, 50), ("b", 6, 61)),
        golden="emit on close session",
        form="cat",
        config=_ON_DISK,
    ),
    case(
        "on_close_hopping",
        _on_close(Hopping(10, 5)),
        into("in", ("a", 1, 7), ("a", 2, 10), ("a", 3, 15), ("a", 4, 22)),
        golden="emit on close hopping",
        form="cat",
        config=_ON_DISK,
    ),
    case(
        "on_close_tumbling_in_memory",
        _on_close(Tumbling(10, grace=2)),
        into("in", ("a", 1, 1), ("a", 6, 12)),
        golden="emit on close with in-memory store",
        form="cat",
        config=Config(cache=True),
    ),
    case(
        "on_close_is_throttled_by_the_wall_clock",
        _on_close(Tumbling(10)),
        [
            *into("in", ("a", 1, 1), ("a", 6, 12), ("a", 7, 22), ("a", 8, 32)),
            (1000,),
            *into("in", ("a", 9, 33), ("a", 10, 43)),
        ],
        golden="emit on close default throttle 1000ms wallclock",
        form="cat",
        config=Config(cache=True, in_memory=False, throttle=1000),
        deviation="the end of a batch is the throttle: results are not held back for a second",
    ),
]
