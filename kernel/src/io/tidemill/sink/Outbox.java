package io.tidemill.sink;

import io.tidemill.problem.Letters;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.spark.sql.catalyst.InternalRow;

/** Sends the rows of one transaction, or of one task without transactions: records, and records that are problems. */
final class Outbox {
  private final SinkOptions options;
  private final Handled handled;
  private final SentCounts sent;
  private final RecordFields fields;
  private final Producer<byte[], byte[]> producer;
  private final Delivery delivery = new Delivery();
  private final Patient patient;

  /** @param restart aborts the transaction and begins another; null where there are none */
  Outbox(
      SinkOptions options, Handled handled, SentCounts sent, RecordFields fields, Producer<byte[], byte[]> producer,
      Supplier<Producer<byte[], byte[]>> restart) {
    this.options = options;
    this.handled = handled;
    this.sent = sent;
    this.fields = fields;
    this.producer = producer;
    this.patient =
        options.handling().refusesBadWrites() ? null : new Patient(options, handled, producer, restart);
  }

  void write(InternalRow row) {
    if (fields.isProblem(row)) {
      problem(row);
    } else if (patient == null) {
      ProducerRecord<byte[], byte[]> record = fields.record(row, producer);
      delivery.send(producer, record);
      sent.add(record);
    } else {
      SinkError flaw = fields.flaw(row);
      if (flaw == null) {
        ProducerRecord<byte[], byte[]> record = fields.record(row, producer);
        patient.send(record, fields.sender(row), false);
        // The broker may still refuse it; then it counts among the errors too.
        sent.add(record);
      } else {
        patient.reject(fields.remains(row, options.handling().topic()), fields.sender(row), flaw);
      }
    }
  }

  /** Waits until all records are known to be good, where bad ones do not fail the task. */
  void settle() {
    if (patient != null) {
      patient.settle();
    }
  }

  Delivery delivery() {
    return delivery;
  }

  private void problem(InternalRow row) {
    ProducerRecord<byte[], byte[]> letter = fields.record(row, producer);
    String kind = Handling.text(letter.headers(), Letters.KIND);
    handled.count(options.handling().outcomes().get(kind), letter.headers());
    if (!options.handling().writesLetter(kind)) {
      return;
    }
    sent.add(letter);
    if (patient == null) {
      delivery.send(producer, letter);
    } else {
      patient.send(letter, "", true);
    }
  }
}
