package io.tidemill.task;

import io.tidemill.row.Getter;
import io.tidemill.row.Rec;
import io.tidemill.spark.Stateful;
import io.tidemill.state.Backend;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import org.apache.commons.lang3.SerializationUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Runs a {@link Program} inside Spark: one group per task, the task's records in Kafka Streams' order.
 *
 * Input rows are (task, port, queue, sequence, time, headers, topic, partition, offset) and then one struct (key,
 * value) per port, null for all ports but the row's own. Within a queue (a source partition) rows run by sequence;
 * between queues the one whose next record is oldest goes first.
 */
public final class TaskProcessor extends StatefulProcessor<Integer, InternalRow, InternalRow> {
  private static final int PORT = 1;
  private static final int QUEUE = 2;
  private static final int SEQUENCE = 3;
  private static final int TIME = 4;
  private static final int HEADERS = 5;
  private static final int TOPIC = 6;
  private static final int PARTITION = 7;
  private static final int OFFSET = 8;
  private static final int FIRST_STRUCT = 9;

  /** The port of a barrier: it passes, so that whoever sees it leave knows that all before it is done. */
  private static final int BARRIER = -1;

  private final Program program;
  private final Getter headers;
  private final Getter[] keys;
  private final Getter[] values;
  private final int outputWidth;
  private transient Map<String, MapState<byte[], byte[]>> states;
  private transient Map<Integer, Task> tasks;

  private TaskProcessor(Program program, DataType headersType, StructType[] ports, int outputWidth) {
    this.program = program;
    this.headers = new Getter(HEADERS, headersType);
    this.keys = new Getter[ports.length];
    this.values = new Getter[ports.length];
    for (int i = 0; i < ports.length; i++) {
      keys[i] = new Getter(0, ports[i].fields()[0].dataType());
      values[i] = new Getter(1, ports[i].fields()[1].dataType());
    }
    this.outputWidth = outputWidth;
  }

  /** @param output what {@link io.tidemill.node.Output} nodes write */
  public static Dataset<Row> apply(Dataset<Row> input, Program program, StructType output) {
    StructType schema = input.schema();
    StructType[] ports = new StructType[schema.fields().length - FIRST_STRUCT];
    for (int i = 0; i < ports.length; i++) {
      ports[i] = (StructType) schema.fields()[FIRST_STRUCT + i].dataType();
    }
    var processor = new TaskProcessor(program, schema.fields()[HEADERS].dataType(), ports, output.fields().length);
    return Stateful.transform(input, schema.fieldNames()[0], processor, output);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    states = new HashMap<>();
    for (String name : program.stores()) {
      states.put(name, getHandle().getMapState(name, Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE()));
    }
    tasks = new HashMap<>();
  }

  @Override
  public Iterator<InternalRow> handleInputRows(Integer id, Iterator<InternalRow> rows, TimerValues timers) {
    Task task = tasks.computeIfAbsent(id, this::newTask);
    return CollectionConverters.asScala(new Run(task, inOrder(rows)));
  }

  private Task newTask(int id) {
    // Nodes hold the state of one task; a second task in the same processor gets nodes of its own.
    Program own = tasks.isEmpty() ? program : SerializationUtils.clone(program);
    return new Task(id, own, this::backend);
  }

  private Backend backend(String name) {
    MapState<byte[], byte[]> state = states.get(name);
    return new Backend() {
      @Override
      public byte[] get(byte[] key) {
        return state.getValue(key);
      }

      @Override
      public void put(byte[] key, byte[] value) {
        state.updateValue(key, value);
      }

      @Override
      public void remove(byte[] key) {
        state.removeKey(key);
      }

      @Override
      public List<byte[]> keys() {
        List<byte[]> keys = new ArrayList<>();
        CollectionConverters.asJava(state.keys()).forEachRemaining(keys::add);
        return keys;
      }
    };
  }

  private static java.util.Iterator<InternalRow> inOrder(Iterator<InternalRow> rows) {
    Map<Long, List<InternalRow>> queues = new HashMap<>();
    while (rows.hasNext()) {
      InternalRow row = rows.next().copy();
      queues.computeIfAbsent(row.getLong(QUEUE), queue -> new ArrayList<>()).add(row);
    }
    for (List<InternalRow> queue : queues.values()) {
      queue.sort(Comparator.comparingLong(row -> row.getLong(SEQUENCE)));
    }
    return queues.size() == 1 ? queues.values().iterator().next().iterator() : new OldestFirst(queues);
  }

  /** Takes the record with the smallest timestamp among the heads of all queues. */
  private static final class OldestFirst implements java.util.Iterator<InternalRow> {
    private final PriorityQueue<ArrayDeque<InternalRow>> heads =
        new PriorityQueue<>(Comparator.<ArrayDeque<InternalRow>>comparingLong(queue -> queue.peek().getLong(TIME))
            .thenComparingLong(queue -> queue.peek().getLong(QUEUE)));

    OldestFirst(Map<Long, List<InternalRow>> queues) {
      queues.values().forEach(queue -> heads.add(new ArrayDeque<>(queue)));
    }

    @Override
    public boolean hasNext() {
      return !heads.isEmpty();
    }

    @Override
    public InternalRow next() {
      ArrayDeque<InternalRow> queue = heads.remove();
      InternalRow row = queue.remove();
      if (!queue.isEmpty()) {
        heads.add(queue);
      }
      return row;
    }
  }

  /** Pulls records through the task only as fast as their results are taken. */
  private final class Run implements java.util.Iterator<InternalRow> {
    private final Task task;
    private final java.util.Iterator<InternalRow> rows;
    private boolean finished;

    Run(Task task, java.util.Iterator<InternalRow> rows) {
      this.task = task;
      this.rows = rows;
    }

    @Override
    public boolean hasNext() {
      while (task.outputs.isEmpty() && rows.hasNext()) {
        accept(rows.next());
      }
      if (task.outputs.isEmpty() && !finished) {
        finished = true;
        task.finish();
      }
      return !task.outputs.isEmpty();
    }

    @Override
    public InternalRow next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return task.outputs.remove();
    }

    private void accept(InternalRow row) {
      int port = row.getInt(PORT);
      if (port == BARRIER) {
        barrier(row);
        return;
      }
      InternalRow pair = row.getStruct(FIRST_STRUCT + port, 2);
      Rec record = new Rec(keys[port].get(pair), values[port].get(pair), row.getLong(TIME), headers.get(row));
      task.accept(port, record, field(row, TOPIC, DataTypes.StringType), field(row, PARTITION, DataTypes.IntegerType),
          field(row, OFFSET, DataTypes.LongType));
    }

    private void barrier(InternalRow row) {
      Object[] fields = new Object[outputWidth];
      fields[0] = BARRIER;
      fields[1] = task.id;
      fields[2] = task.nextSequence();
      fields[3] = row.getLong(TIME);
      ArrayData asked = (ArrayData) headers.get(row);
      ArrayData answer = asked == null ? null : task.answer(asked);
      fields[4] = answer == null ? asked : answer;
      task.outputs.add(new GenericInternalRow(fields));
    }

    private static Object field(InternalRow row, int ordinal, DataType type) {
      return row.isNullAt(ordinal) ? null : row.get(ordinal, type);
    }
  }
}
