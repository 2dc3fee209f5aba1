package io.tidemill.sink;

import org.apache.kafka.clients.producer.Producer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Writes at least once: everything is acknowledged by the brokers before the task says it is done. */
final class PlainWriter implements DataWriter<InternalRow> {
  private final RecordFields fields;
  private final Producer<byte[], byte[]> producer;
  private final Handled handled = new Handled();
  private final Outbox outbox;
  private final SentCounts sent = new SentCounts(false);

  PlainWriter(SinkOptions options, RecordFields fields) {
    this.fields = fields;
    this.producer = Producers.shared(options);
    this.outbox = new Outbox(options, handled, sent, fields, producer, null);
  }

  @Override
  public void write(InternalRow row) {
    outbox.write(row);
  }

  @Override
  public WriterCommitMessage commit() {
    outbox.settle();
    producer.flush();
    outbox.delivery().check();
    return new KafkaStreamingWrite.Written(handled, sent);
  }

  @Override
  public void abort() {}

  @Override
  public void close() {}
}
