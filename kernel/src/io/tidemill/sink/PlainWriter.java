package io.tidemill.sink;

import org.apache.kafka.clients.producer.Producer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Writes at least once: everything is acknowledged by the brokers before the task says it is done. */
final class PlainWriter implements DataWriter<InternalRow> {
  private final RecordFields fields;
  private final Producer<byte[], byte[]> producer;
  private final Delivery delivery = new Delivery();

  PlainWriter(SinkOptions options, RecordFields fields) {
    this.fields = fields;
    this.producer = Producers.shared(options);
  }

  @Override
  public void write(InternalRow row) {
    delivery.send(producer, fields.record(row));
  }

  @Override
  public WriterCommitMessage commit() {
    producer.flush();
    delivery.check();
    return new KafkaStreamingWrite.Written();
  }

  @Override
  public void abort() {}

  @Override
  public void close() {}
}
