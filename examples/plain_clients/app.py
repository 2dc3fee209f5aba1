"""The plain clients: consumer groups, manual assignment, seek and commit. No Spark, no Tidemill."""

import os

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

SERVERS = os.environ.get("TIDEMILL_BOOTSTRAP_SERVER", "localhost:9092")
TOPIC = "letters"


def create_topic() -> None:
    """A topic of two partitions: two consumers of one group can share it."""
    admin = AdminClient({"bootstrap.servers": SERVERS})
    for future in admin.create_topics([NewTopic(TOPIC, 2)]).values():
        future.result()  # requests are answered later: wait, and see what went wrong


def send(count: int) -> None:
    """Letters to two people. The same key goes to the same partition, so a person's letters stay in order."""
    # murmur2 is what Java clients partition by; librdkafka's own default differs.
    producer = Producer({"bootstrap.servers": SERVERS, "partitioner": "murmur2_random"})
    for number in range(count):
        producer.produce(TOPIC, key=("ann", "cleo")[number % 2], value=f"letter {number}")
    producer.flush()  # returns when every letter is acknowledged


def share() -> dict[str, list[str]]:
    """Two members of one group: each gets a partition, and every letter is read by one of them."""
    settings = {
        "bootstrap.servers": SERVERS,
        "group.id": "readers",
        "auto.offset.reset": "earliest",
        # Offsets are committed below, when the work is done: a letter is never lost, but may be read twice.
        "enable.auto.commit": False,
    }
    members = [Consumer(settings), Consumer(settings)]
    for member in members:
        member.subscribe([TOPIC])
    # Polling is also how a member takes part in the group: both must poll, or nothing is shared out.
    while not all(member.assignment() for member in members):
        for member in members:
            member.poll(0.1)
            if len(member.assignment()) > 1:
                member.seek(TopicPartition(TOPIC, 0, OFFSET_BEGINNING))
                member.seek(TopicPartition(TOPIC, 1, OFFSET_BEGINNING))
    found: dict[str, list[str]] = {}
    for member in members:
        (part,) = member.assignment()
        member.seek(TopicPartition(part.topic, part.partition, OFFSET_BEGINNING))
        for message in read_to_end(member, part):
            found.setdefault(text(message.key()), []).append(text(message.value()))
        member.commit(asynchronous=False)  # the position of what was polled
        member.close()
    return found


def replay(partition: int, last: int) -> list[str]:
    """Manual assignment: no group decides, we say which partition and where to begin."""
    consumer = Consumer({"bootstrap.servers": SERVERS, "group.id": "nobody", "enable.auto.commit": False})
    part = TopicPartition(TOPIC, partition)
    _, end = consumer.get_watermark_offsets(part)
    consumer.assign([TopicPartition(TOPIC, partition, max(0, end - last))])
    found = [text(message.value()) for message in read_to_end(consumer, part)]
    consumer.close()
    return found


def committed() -> dict[int, int]:
    """Where the group `readers` would go on."""
    consumer = Consumer({"bootstrap.servers": SERVERS, "group.id": "readers"})
    parts = consumer.committed([TopicPartition(TOPIC, number) for number in (0, 1)])
    consumer.close()
    return {part.partition: part.offset for part in parts}


def read_to_end(consumer: Consumer, part: TopicPartition) -> list[Message]:
    """Messages up to what is the end of the partition now."""
    _, end = consumer.get_watermark_offsets(part)
    found: list[Message] = []
    while not found or (found[-1].offset() or 0) < end - 1:
        message = consumer.poll(1.0)
        if message is not None and message.error() is None and message.partition() == part.partition:
            found.append(message)
    return found


def text(data: str | bytes | None) -> str:
    return data.decode() if isinstance(data, bytes) else data or ""


if __name__ == "__main__":
    create_topic()
    send(6)
    for reader, letters in sorted(share().items()):
        print(f"to {reader}: {', '.join(letters)}")
    print(f"the group goes on at {committed()}")
    print(f"the last two of partition 0 again: {', '.join(replay(0, last=2))}")
