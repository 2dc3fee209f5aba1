package io.tidemill.node;

import io.tidemill.problem.Origin;
import io.tidemill.row.Rec;
import io.tidemill.task.Task;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Where records leave the program: to a sink, a changelog, or the next shuffle.
 *
 * Rows are (port, task, sequence, time, headers, topic, partition, offset, raw) and then one struct (key, value) per
 * port. The fields from topic to raw are the {@link Origin}.
 */
public final class Output extends Node {
  public static final int FIRST_STRUCT = 9;

  private final int port;
  private final boolean needsKey;

  /** @param needsKey whether records without a key are left out silently, as before a shuffle by key */
  public Output(String name, int port, boolean needsKey) {
    super(name);
    this.port = port;
    this.needsKey = needsKey;
  }

  @Override
  public void process(int slot, Rec record) {
    if (!needsKey || record.key() != null) {
      send(task, port, record);
    }
  }

  /** Lets a record leave a task by a port. */
  public static void send(Task task, int port, Rec record) {
    Origin origin = task.origin();
    Object[] fields = new Object[FIRST_STRUCT + task.ports()];
    fields[0] = port;
    fields[1] = task.id;
    fields[2] = task.nextSequence();
    fields[3] = record.time();
    fields[4] = record.headers();
    fields[5] = origin.topic();
    fields[6] = origin.partition();
    fields[7] = origin.offset();
    fields[8] = origin.raw();
    fields[FIRST_STRUCT + port] = new GenericInternalRow(new Object[] {record.key(), record.value()});
    task.outputs.add(new GenericInternalRow(fields));
  }
}
