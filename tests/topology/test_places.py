"""Every node knows the user's line."""

from __future__ import annotations

import shops

from tidemill import StreamsBuilder
from tidemill.place import Place, here


def test_every_verb_keeps_the_line_it_was_called_on() -> None:
    for build in shops.ALL.values():
        for node in build():
            assert node.place is not None
            assert node.place.file == shops.__file__, node


def test_text_is_the_line_as_written() -> None:
    builder = StreamsBuilder()
    builder.stream("orders").peek(print)
    assert [node.place.text for node in builder.build() if node.place] == [
        'builder.stream("orders").peek(print)'
    ] * 2


def test_place_of_a_call() -> None:
    place = here()
    assert isinstance(place, Place)
    assert place.text == "place = here()"


def test_place_does_not_make_nodes_differ() -> None:
    first, second = StreamsBuilder(), StreamsBuilder()
    first.stream("orders").to("copy")
    second.stream("orders").to("copy")
    assert first.build() == second.build()
