package io.tidemill.task;

import io.tidemill.problem.Origin;
import io.tidemill.row.Getter;
import io.tidemill.row.Rec;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.StructType;

/**
 * The rows a program reads, and how they become its records.
 *
 * They are (task, port, queue, sequence, time, headers, topic, partition, offset, raw) and then one struct (key, value)
 * per port, null for all ports but the row's own. The fields from topic to raw are the {@link Origin}. Within a queue (a source partition) rows run by sequence; between queues
 * the one whose next record is oldest goes first.
 */
final class TaskRow implements Serializable {
  static final int TASK = 0;
  static final int PORT = 1;
  static final int QUEUE = 2;
  static final int SEQUENCE = 3;
  static final int TIME = 4;
  private static final int HEADERS = 5;
  private static final int TOPIC = 6;
  private static final int PARTITION = 7;
  private static final int OFFSET = 8;
  private static final int RAW = 9;
  private static final int RAW_FIELDS = 4;
  private static final int FIRST_STRUCT = 10;

  /** The port of a barrier: it passes, so that whoever sees it leave knows that all before it is done. */
  private static final int BARRIER = -1;

  private final Getter headers;
  private final Getter[] keys;
  private final Getter[] values;
  private final int outputWidth;

  TaskRow(StructType input, StructType output) {
    headers = new Getter(HEADERS, input.fields()[HEADERS].dataType());
    int ports = input.fields().length - FIRST_STRUCT;
    keys = new Getter[ports];
    values = new Getter[ports];
    for (int i = 0; i < ports; i++) {
      StructType pair = (StructType) input.fields()[FIRST_STRUCT + i].dataType();
      keys[i] = new Getter(0, pair.fields()[0].dataType());
      values[i] = new Getter(1, pair.fields()[1].dataType());
    }
    outputWidth = output.fields().length;
  }

  /** Sends a row's record into the task, which may put rows into its outputs. */
  void enter(Task task, InternalRow row) {
    int port = row.getInt(PORT);
    if (port == BARRIER) {
      pass(task, row);
      return;
    }
    InternalRow pair = row.getStruct(FIRST_STRUCT + port, 2);
    Rec record = new Rec(keys[port].get(pair), values[port].get(pair), row.getLong(TIME), headers.get(row));
    task.accept(port, record, origin(task, port, row));
  }

  private static Origin origin(Task task, int port, InternalRow row) {
    if (row.isNullAt(TOPIC)) {
      return Origin.NONE;
    }
    InternalRow raw = row.isNullAt(RAW) ? null : row.getStruct(RAW, RAW_FIELDS);
    return new Origin(
        row.getUTF8String(TOPIC), row.getInt(PARTITION), row.getLong(OFFSET), raw, task.isFromTopic(port));
  }

  private void pass(Task task, InternalRow barrier) {
    Object[] fields = new Object[outputWidth];
    fields[0] = BARRIER;
    fields[1] = task.id;
    fields[2] = task.nextSequence();
    fields[3] = barrier.getLong(TIME);
    ArrayData asked = (ArrayData) headers.get(barrier);
    ArrayData answer = asked == null ? null : task.answer(asked);
    fields[4] = answer == null ? asked : answer;
    task.outputs.add(new GenericInternalRow(fields));
  }
}
