package io.tidemill.sink;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Sends a task's records and keeps the first failure, which the broker may tell long after the send. */
final class Delivery {
  private final AtomicReference<SinkError> failure = new AtomicReference<>();

  void send(Producer<byte[], byte[]> producer, ProducerRecord<byte[], byte[]> record) {
    check();
    try {
      producer.send(record, (metadata, error) -> {
        if (error != null) {
          failure.compareAndSet(null, SinkError.of(error, record.topic()));
        }
      });
    } catch (RuntimeException e) {
      check();
      throw SinkError.of(e, record.topic());
    }
  }

  /** Throw what has gone wrong so far. */
  void check() {
    SinkError error = failure.get();
    if (error != null) {
      throw error;
    }
  }
}
