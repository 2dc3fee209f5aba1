package io.tidemill.node;

import io.tidemill.row.Rec;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Where records leave the program: to a sink, a changelog, or the next shuffle.
 *
 * Rows are (port, task, sequence, time, headers) and then one struct (key, value) per port.
 */
public final class Output extends Node {
  private static final int FIRST_STRUCT = 5;

  private final int port;
  private final int ports;
  private final boolean needsKey;

  /** @param needsKey whether records without a key are left out silently, as before a shuffle by key */
  public Output(String name, int port, int ports, boolean needsKey) {
    super(name);
    this.port = port;
    this.ports = ports;
    this.needsKey = needsKey;
  }

  @Override
  public void process(int slot, Rec record) {
    if (needsKey && record.key() == null) {
      return;
    }
    Object[] fields = new Object[FIRST_STRUCT + ports];
    fields[0] = port;
    fields[1] = task.id;
    fields[2] = task.nextSequence();
    fields[3] = record.time();
    fields[4] = record.headers();
    fields[FIRST_STRUCT + port] = new GenericInternalRow(new Object[] {record.key(), record.value()});
    task.outputs.add(new GenericInternalRow(fields));
  }
}
