package io.tidemill.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamWriter;

/** Takes a query's rows into a queue of this JVM: the end of a test driver's pipeline. Local mode only. */
public final class RowQueue extends ForeachWriter<Row> {
  private static final Map<String, ConcurrentLinkedQueue<Object[]>> QUEUES = new ConcurrentHashMap<>();

  private final String id;

  private RowQueue(String id) {
    this.id = id;
  }

  public static DataStreamWriter<Row> into(String id, Dataset<Row> frame) {
    QUEUES.put(id, new ConcurrentLinkedQueue<>());
    return frame.writeStream().outputMode("update").foreach(new RowQueue(id));
  }

  /** All rows since the last call, each as a list of its fields. */
  public static List<Object[]> drain(String id) {
    List<Object[]> rows = new ArrayList<>();
    ConcurrentLinkedQueue<Object[]> queue = QUEUES.get(id);
    for (Object[] row = queue.poll(); row != null; row = queue.poll()) {
      rows.add(row);
    }
    return rows;
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
    ConcurrentLinkedQueue<Object[]> queue = QUEUES.get(id);
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
