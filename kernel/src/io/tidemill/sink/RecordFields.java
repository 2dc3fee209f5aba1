package io.tidemill.sink;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.utils.Utils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Where a row keeps the parts of a record, and the record made of them.
 *
 * Besides topic, key, value, headers, timestamp and partition there are `task` and, where tasks are source partitions,
 * `origin`, the source topic: they name the {@link Lane}.
 *
 * `unhashed` is how many bytes at a key's end do not count when its partition is chosen: those of a window, so that all
 * windows of a key lie where the key does.
 */
final class RecordFields implements Serializable {
  private static final long MICROS_PER_MILLI = 1000;
  private static final int ABSENT = -1;

  private final int topic;
  private final int key;
  private final int value;
  private final int headers;
  private final int timestamp;
  private final int partition;
  private final int task;
  private final int origin;
  private final int problem;
  private final int sink;
  private final int unhashed;
  private transient UTF8String lastText;
  private transient String lastName;

  RecordFields(StructType schema) {
    Set<String> names = Set.of(schema.fieldNames());
    for (String required : List.of("topic", "key", "value")) {
      if (!names.contains(required)) {
        throw new IllegalArgumentException("a sink of records needs the column `" + required + "`");
      }
    }
    topic = schema.fieldIndex("topic");
    key = schema.fieldIndex("key");
    value = schema.fieldIndex("value");
    headers = names.contains("headers") ? schema.fieldIndex("headers") : ABSENT;
    timestamp = names.contains("timestamp") ? schema.fieldIndex("timestamp") : ABSENT;
    partition = names.contains("partition") ? schema.fieldIndex("partition") : ABSENT;
    task = names.contains("task") ? schema.fieldIndex("task") : ABSENT;
    problem = names.contains("problem") ? schema.fieldIndex("problem") : ABSENT;
    sink = names.contains("sink") ? schema.fieldIndex("sink") : ABSENT;
    origin = names.contains("origin") ? schema.fieldIndex("origin") : ABSENT;
    unhashed = names.contains("unhashed") ? schema.fieldIndex("unhashed") : ABSENT;
  }

  boolean hasLanes() {
    return task != ABSENT;
  }

  Lane lane(InternalRow row) {
    return new Lane(has(row, origin) ? row.getUTF8String(origin).toString() : null, row.getInt(task));
  }

  /** Whether a row belongs to a lane. The topic is compared by bytes: this runs for every record. */
  boolean isOf(Lane lane, InternalRow row) {
    if (lane == null || row.getInt(task) != lane.number()) {
      return false;
    }
    return !has(row, origin) ? lane.topic() == null : row.getUTF8String(origin).equals(lane.topicBytes());
  }

  /** Whether a row is a record that could not be read or processed, its reason in its headers. */
  boolean isProblem(InternalRow row) {
    return has(row, problem) && row.getBoolean(problem);
  }

  /** The step that sends a row. */
  String sender(InternalRow row) {
    return has(row, sink) ? row.getUTF8String(sink).toString() : "";
  }

  /** What keeps a row from being a record of Kafka; null for nothing. */
  SinkError flaw(InternalRow row) {
    if (row.isNullAt(topic)) {
      return new SinkError(SinkError.Code.NO_TOPIC, "a record has no topic: the function that chooses it gave null");
    }
    Long time = time(row);
    if (time != null && time < 0) {
      return new SinkError(SinkError.Code.BAD_TIMESTAMP, "a record for topic `" + row.getUTF8String(topic)
          + "` has the negative timestamp " + time + ", which Kafka does not keep");
    }
    return null;
  }

  /** A row with a flaw, as far as it can be told. */
  ProducerRecord<byte[], byte[]> remains(InternalRow row, String letters) {
    return new ProducerRecord<>(letters, null, null, row.isNullAt(key) ? null : row.getBinary(key),
        row.isNullAt(value) ? null : row.getBinary(value), headers(row));
  }

  /** @param producer knows how many partitions a topic has */
  ProducerRecord<byte[], byte[]> record(InternalRow row, Producer<byte[], byte[]> producer) {
    SinkError flaw = flaw(row);
    if (flaw != null) {
      throw flaw;
    }
    String name = name(row.getUTF8String(topic));
    Long time = time(row);
    Integer to = has(row, partition) ? (Integer) row.getInt(partition) : placed(row, name, producer);
    return new ProducerRecord<>(name, to, time, row.isNullAt(key) ? null : row.getBinary(key),
        row.isNullAt(value) ? null : row.getBinary(value), headers(row));
  }

  /** Most records go where the one before went. */
  private String name(UTF8String text) {
    if (!text.equals(lastText)) {
      lastText = text.clone();
      lastName = text.toString();
    }
    return lastName;
  }

  private Long time(InternalRow row) {
    return has(row, timestamp) ? Math.floorDiv(row.getLong(timestamp), MICROS_PER_MILLI) : null;
  }

  /** The partition of a windowed key, which is that of the key inside; null leaves the choice to the producer. */
  private Integer placed(InternalRow row, String name, Producer<byte[], byte[]> producer) {
    if (!has(row, unhashed) || row.isNullAt(key)) {
      return null;
    }
    byte[] bytes = row.getBinary(key);
    byte[] inner = Arrays.copyOf(bytes, Math.max(0, bytes.length - row.getInt(unhashed)));
    try {
      return Utils.toPositive(Utils.murmur2(inner)) % producer.partitionsFor(name).size();
    } catch (RuntimeException e) {
      throw SinkError.of(e, name);
    }
  }

  private List<Header> headers(InternalRow row) {
    if (!has(row, headers)) {
      return List.of();
    }
    ArrayData array = row.getArray(headers);
    List<Header> list = new ArrayList<>(array.numElements());
    for (int i = 0; i < array.numElements(); i++) {
      InternalRow header = array.getStruct(i, 2);
      list.add(new RecordHeader(header.getUTF8String(0).toString(), header.isNullAt(1) ? null : header.getBinary(1)));
    }
    return list;
  }

  private static boolean has(InternalRow row, int ordinal) {
    return ordinal != ABSENT && !row.isNullAt(ordinal);
  }
}
