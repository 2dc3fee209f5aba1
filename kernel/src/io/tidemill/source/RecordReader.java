package io.tidemill.source;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads the records of a batch from one partition, as rows of Spark's Kafka source.
 *
 * Spark's own reader takes a lock and two clock readings for each record, and copies it into a row of bytes. Here a row
 * points at the record; it holds until the next one is asked for.
 */
final class RecordReader implements PartitionReader<InternalRow> {
  private static final int KEY = 0;
  private static final int VALUE = 1;
  private static final int TOPIC = 2;
  private static final int PARTITION = 3;
  private static final int OFFSET = 4;
  private static final int TIMESTAMP = 5;
  private static final int TIMESTAMP_TYPE = 6;
  private static final int HEADERS = 7;
  private static final long MICROS_PER_MILLI = 1000;

  private final Fetcher fetcher;
  private final boolean withHeaders;
  private final Object[] fields;
  private final InternalRow row;
  private int size;

  RecordReader(KafkaBatchInputPartition wanted) {
    TopicPartition partition = wanted.offsetRange().topicPartition();
    withHeaders = wanted.includeHeaders();
    fields = new Object[withHeaders ? HEADERS + 1 : HEADERS];
    fields[TOPIC] = UTF8String.fromString(partition.topic());
    fields[PARTITION] = partition.partition();
    row = new GenericInternalRow(fields);
    fetcher = Fetchers.take(partition, wanted.executorKafkaParams());
    fetcher.begin(wanted.offsetRange().fromOffset(), wanted.offsetRange().untilOffset(), wanted.pollTimeoutMs());
  }

  @Override
  public boolean next() {
    ConsumerRecord<byte[], byte[]> record = fetcher.next();
    if (record == null) {
      return false;
    }
    fields[KEY] = record.key();
    fields[VALUE] = record.value();
    fields[OFFSET] = record.offset();
    fields[TIMESTAMP] = record.timestamp() * MICROS_PER_MILLI;
    fields[TIMESTAMP_TYPE] = record.timestampType().id;
    if (withHeaders) {
      fields[HEADERS] = headers(record);
    }
    size = Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
    return true;
  }

  @Override
  public InternalRow get() {
    return row;
  }

  /** The bytes of the record. */
  int size() {
    return size;
  }

  @Override
  public void close() {
    Fetchers.giveBack(fetcher);
  }

  private static GenericArrayData headers(ConsumerRecord<byte[], byte[]> record) {
    List<Object> found = null;
    for (Header header : record.headers()) {
      found = found == null ? new ArrayList<>() : found;
      found.add(new GenericInternalRow(new Object[] {UTF8String.fromString(header.key()), header.value()}));
    }
    return found == null ? null : new GenericArrayData(found.toArray());
  }
}
