"""Ready sets: schemas for the topics of the examples."""

from __future__ import annotations

from tidemill.datagen.schema import Schema, ValueFormat

READY: dict[str, Schema] = {
    schema.topic: schema
    for schema in (
        Schema(
            topic="numbers",
            about="numbers under three colours, a little out of order",
            key="choice(blue, green, red)",
            fields={"value": "uniform(1, 100)"},
            format=ValueFormat.long,
            out_of_order=1_000,
        ),
        Schema(
            topic="colours",
            about="a small table: the name of each colour of `numbers`",
            key="cycle(blue, green, red)",
            fields={"value": 'text("the {key} ones")'},
            format=ValueFormat.string,
            rate=1,
        ),
        Schema(
            topic="lines",
            about="lines of words, without keys",
            fields={"value": "words(4, 9)"},
            format=ValueFormat.string,
            rate=5,
        ),
        Schema(
            topic="orders",
            about="orders of `customers`",
            key="sequence(o1)",
            fields={
                "customer": "zipf(c1..c20)",
                "item": "choice(lamp, chair, table, rug, clock)",
                "amount": "lognormal(40, 0.6)",
            },
        ),
        Schema(
            topic="customers",
            about="customers, one after the other, then again with new data",
            key="cycle(c1..c20)",
            fields={
                "name": "choice(Ann, Bob, Cleo, Dan, Eve, Finn, Gus, Hana)",
                "city": "choice(Oslo, Bergen, Porto, Riga)",
                "tier": "weighted(gold:1, silver:3, basic:6)",
            },
            rate=5,
        ),
        Schema(
            topic="clicks",
            about="pages that users look at, some users far more often than others",
            key="zipf(u1..u30)",
            fields={"page": "zipf(/, /search, /item, /cart, /pay)", "ms": "exponential(800, 0)"},
            rate=20,
            out_of_order=2_000,
        ),
        Schema(
            topic="sensors",
            about="temperatures of sensors; the last ones report seldom",
            key="zipf(s1..s8)",
            fields={"temperature": "walk(20, 0.3, 1)", "battery": "uniform(20, 100)"},
        ),
        Schema(
            topic="payments",
            about="card payments; a few cards are used all the time",
            key="zipf(card1..card25)",
            fields={
                "amount": "lognormal(35, 1.1)",
                "country": "weighted(NO:8, PT:3, LV:2, XX:1)",
                "merchant": "choice(m1..m12)",
            },
            rate=20,
            out_of_order=1_000,
        ),
        Schema(
            topic="cards",
            about="a small table: the limit and home of each card of `payments`",
            key="cycle(card1..card25)",
            fields={"limit": "choice(50, 100, 200)", "home": "weighted(NO:8, PT:3, LV:2)"},
            rate=25,
        ),
        Schema(
            topic="logs",
            about="log lines of services",
            key="zipf(web, shop, billing)",
            fields={
                "level": "weighted(INFO:85, WARN:10, ERROR:5)",
                "message": "words(3, 6)",
                "at": "iso()",
            },
            rate=20,
        ),
        Schema(
            topic="raw_data",
            about="readings as JSON, of which one in ten is cut off",
            key="choice(a, b, c)",
            fields={"device": 'text("{key}")', "reading": "normal(50, 20, 1)", "unit": "choice(C, F)"},
            broken=0.1,
        ),
        Schema(
            topic="commands",
            about="deposits to accounts and withdrawals from them",
            key="choice(ann, bob, cleo)",
            fields={"kind": "weighted(deposit:6, withdraw:4)", "amount": "uniform(1, 100)"},
            rate=5,
        ),
        Schema(
            topic="reviews",
            about="opinions in words",
            key="sequence(r1)",
            fields={"product": "choice(lamp, chair, clock)", "text": "opinion(4, 9)"},
            rate=5,
        ),
    )
}
