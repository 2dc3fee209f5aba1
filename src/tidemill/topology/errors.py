"""What is wrong with a topology, at which node, on which of the user's lines, and what to do."""

from __future__ import annotations

from tidemill.errors import ExitCode, TidemillError
from tidemill.place import Place


class TopologyError(TidemillError):
    """A topology that cannot be built as declared.

    >>> place = Place("app.py", 7, "x.count()")
    >>> print(TopologyError("`count` has no store", node="count-of-a", place=place, remedy="give store="))
    `count` has no store (app.py:7, node `count-of-a`)
        x.count()
    Remedy: give store=
    """

    code = "TOPOLOGY"
    exit_code = ExitCode.USAGE

    def __init__(
        self, what: str, *, node: str | None = None, place: Place | None = None, remedy: str | None = None
    ) -> None:
        spots = [*([] if place is None else [str(place)]), *([] if node is None else [f"node `{node}`"])]
        super().__init__(what, where=", ".join(spots) or None, remedy=remedy)
        self.node = node
        self.place = place

    def __str__(self) -> str:
        head = self.what if self.where is None else f"{self.what} ({self.where})"
        line = [f"    {self.place.text}"] if self.place is not None and self.place.text else []
        remedy = [] if self.remedy is None else [f"Remedy: {self.remedy}"]
        return "\n".join([head, *line, *remedy])
