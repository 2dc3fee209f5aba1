"""A hand-made transaction: read, process and write as one, so that every payment is booked exactly once."""

import os
from collections.abc import Callable

from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

SERVERS = os.environ.get("TIDEMILL_BOOTSTRAP_SERVER", "localhost:9092")
INPUT, OUTPUT = "transfers", "bookings"
GROUP = "booking"


class Crash(Exception):
    """Stands for whatever ends a program in the middle of its work."""


def book_all(crash_at: int | None = None) -> int:
    """Book what there is. Results and the place in the input are committed together, or not at all."""
    consumer = Consumer(
        {
            "bootstrap.servers": SERVERS,
            "group.id": GROUP,
            "enable.auto.commit": False,  # the producer commits, inside the transaction
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    # The id is the same after a restart: a new producer with it ends what the old one left open, and the old
    # one, should it still live, can write no more.
    producer = Producer({"bootstrap.servers": SERVERS, "transactional.id": "booking-0"})
    producer.init_transactions()
    consumer.subscribe([INPUT])
    done = 0
    try:
        while not finished(consumer):
            batch = [message for message in consumer.consume(3, timeout=1.0) if message.error() is None]
            if not batch:
                continue
            producer.begin_transaction()
            for message in batch:
                if done == crash_at:
                    producer.flush()  # what was written so far is in the log, though not committed
                    raise Crash
                book(producer.produce, message)
                done += 1
            # The offsets go into the same transaction as the bookings: that is all there is to exactly-once.
            producer.send_offsets_to_transaction(
                consumer.position(consumer.assignment()), consumer.consumer_group_metadata()
            )
            producer.commit_transaction()
    finally:
        consumer.close()
    return done


def book(produce: Callable[..., None], message: Message) -> None:
    """The work itself: a transfer `20` of `ann` becomes the booking `ann: 20`."""
    produce(OUTPUT, key=message.key(), value=f"{text(message.key())}: {text(message.value())}")


def finished(consumer: Consumer) -> bool:
    """Whether everything that is in the input now has been committed."""
    parts = consumer.committed(consumer.assignment())
    ends = [consumer.get_watermark_offsets(part)[1] for part in parts]
    return bool(parts) and all(part.offset >= end or end == 0 for part, end in zip(parts, ends, strict=True))


def create_topics() -> None:
    admin = AdminClient({"bootstrap.servers": SERVERS})
    for future in admin.create_topics([NewTopic(INPUT, 1), NewTopic(OUTPUT, 1)]).values():
        future.result()


def fill() -> None:
    producer = Producer({"bootstrap.servers": SERVERS})
    for number in range(5):
        producer.produce(INPUT, key="ann", value=str(10 * (number + 1)))
    producer.flush()


def bookings(isolation: str) -> list[str]:
    """What a reader of this isolation level sees."""
    consumer = Consumer(
        {"bootstrap.servers": SERVERS, "group.id": "look", "isolation.level": isolation}
        | {"enable.partition.eof": True, "enable.auto.commit": False}
    )
    consumer.assign([TopicPartition(OUTPUT, 0, 0)])
    found = []
    while (message := consumer.poll(5.0)) is not None and message.error() is None:
        found.append(text(message.value()))
    consumer.close()
    return found


def text(data: str | bytes | None) -> str:
    return data.decode() if isinstance(data, bytes) else data or ""


if __name__ == "__main__":
    create_topics()
    fill()
    try:
        book_all(crash_at=4)
    except Crash:
        print("crashed after the fourth booking")
    print(f"booked after the restart: {book_all()}")
    print(f"committed bookings: {'; '.join(bookings('read_committed'))}")
