package io.tidemill.memory;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** Kafka records in this JVM's memory, by the id of the log; readers can wait for the next one. */
public final class MemoryLog {
  private static final Map<String, MemoryLog> LOGS = new ConcurrentHashMap<>();

  private final List<InternalRow> rows = new ArrayList<>();
  private long clock;

  public static MemoryLog of(String id) {
    return LOGS.computeIfAbsent(id, key -> new MemoryLog());
  }

  public static void forget(String id) {
    LOGS.remove(id);
  }

  /** Appends a record, and behind it a barrier: a record without a topic. Header lists may be null for none. */
  public synchronized void append(String topic, long offset, byte[] key, byte[] value, long millis, List<String> headerNames,
      List<byte[]> headerValues) {
    Object[] headers = new Object[headerNames == null ? 0 : headerNames.size()];
    for (int i = 0; i < headers.length; i++) {
      headers[i] = new GenericInternalRow(new Object[] {UTF8String.fromString(headerNames.get(i)), headerValues.get(i)});
    }
    rows.add(row(UTF8String.fromString(topic), offset, key, value, millis, new GenericArrayData(headers)));
    barrier(null);
  }

  /** Appends a barrier that asks whoever keeps this store for its entries. */
  public synchronized void ask(String store) {
    Object[] question = {UTF8String.fromString("ask"), store.getBytes(StandardCharsets.UTF_8)};
    barrier(new GenericArrayData(new Object[] {new GenericInternalRow(question)}));
  }

  /** Lets the time of barriers move on, and appends one: the clock of whoever reads them. */
  public synchronized void tick(long millis) {
    clock = millis;
    barrier(null);
  }

  private void barrier(Object headers) {
    rows.add(row(null, 0, null, null, clock, headers));
    notifyAll();
  }

  private static InternalRow row(UTF8String topic, long offset, byte[] key, byte[] value, long millis, Object headers) {
    return new GenericInternalRow(new Object[] {key, value, topic, 0, offset, millis * 1000, headers});
  }

  synchronized int size() {
    return rows.size();
  }

  synchronized InternalRow get(int index) {
    return rows.get(index);
  }

  /** Whether there is a record at this index within the time. */
  synchronized boolean await(int index, long millis) {
    long end = System.nanoTime() + millis * 1_000_000;
    while (index >= rows.size()) {
      long left = (end - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return false;
      }
      try {
        wait(left);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return true;
  }
}
