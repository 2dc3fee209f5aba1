package io.tidemill.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamWriter;

/** Takes a query's rows into a queue of this JVM: the end of a test driver's pipeline. Local mode only. */
public final class RowQueue extends ForeachWriter<Row> {
  private static final Map<String, LinkedBlockingQueue<Object[]>> QUEUES = new ConcurrentHashMap<>();

  private final String id;

  private RowQueue(String id) {
    this.id = id;
  }

  public static DataStreamWriter<Row> into(String id, Dataset<Row> frame) {
    QUEUES.put(id, new LinkedBlockingQueue<>());
    return frame.writeStream().outputMode("update").foreach(new RowQueue(id));
  }

  /** All rows there are now, each as an array of its fields. */
  public static List<Object[]> drain(String id) {
    List<Object[]> rows = new ArrayList<>();
    QUEUES.get(id).drainTo(rows);
    return rows;
  }

  /**
   * As {@link #drain}, packed into bytes: one call from Python, however many rows there are.
   *
   * @param problem the field that says whether a row is a record that could not be read, processed or written
   */
  public static byte[] drainPacked(String id, int problem) {
    return PackedRows.pack(drain(id), problem);
  }

  /**
   * Rows up to the next barrier, itself included and packed into bytes; or null if none comes in time.
   *
   * A barrier is a row whose first field is null. A late one leaves the rows before it in the queue, so that the call can be
   * repeated.
   */
  public static byte[] untilBarrier(String id, int problem, long millis) throws InterruptedException {
    LinkedBlockingQueue<Object[]> queue = QUEUES.get(id);
    List<Object[]> rows = new ArrayList<>();
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (true) {
      Object[] row = queue.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
      if (row == null) {
        List<Object[]> later = new ArrayList<>();
        queue.drainTo(later);
        queue.addAll(rows);
        queue.addAll(later);
        return null;
      }
      rows.add(row);
      if (row[0] == null) {
        return PackedRows.pack(rows, problem);
      }
    }
  }

  public static void forget(String id) {
    QUEUES.remove(id);
  }

  @Override
  public boolean open(long partition, long epoch) {
    return true;
  }

  @Override
  public void process(Row row) {
    LinkedBlockingQueue<Object[]> queue = QUEUES.get(id);
    if (queue != null) {
      Object[] fields = new Object[row.length()];
      for (int i = 0; i < fields.length; i++) {
        fields[i] = row.get(i);
      }
      queue.add(fields);
    }
  }

  @Override
  public void close(Throwable error) {}
}
