package io.tidemill.task;

import io.tidemill.plan.OldestFirst;
import io.tidemill.problem.FirstFailure;
import io.tidemill.problem.StateFailure;
import io.tidemill.spark.Stateful;
import io.tidemill.state.Backend;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.lang3.SerializationUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** Runs a {@link Program} inside Spark: one group per task, the task's records in Kafka Streams' order. */
public final class TaskProcessor extends StatefulProcessor<Integer, InternalRow, InternalRow> {
  private final Program program;
  private final TaskRow form;
  private final boolean ordered;
  private transient Map<String, MapState<byte[], byte[]>> states;
  private transient Map<Integer, Task> tasks;

  private TaskProcessor(Program program, TaskRow form, boolean ordered) {
    this.program = program;
    this.form = form;
    this.ordered = ordered;
  }

  /**
   * @param output what {@link io.tidemill.node.Output} nodes write
   * @param ordered whether the rows of a task already come in order
   */
  public static Dataset<Row> apply(Dataset<Row> input, Program program, StructType output, boolean ordered) {
    StructType schema = input.schema();
    var processor = new TaskProcessor(program, new TaskRow(schema, output), ordered);
    return Stateful.transform(input, schema.fieldNames()[TaskRow.TASK], processor, output);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    FirstFailure.watch();
    states = new HashMap<>();
    for (String name : program.stores()) {
      states.put(name, getHandle().getMapState(name, Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE()));
    }
    tasks = new HashMap<>();
  }

  @Override
  public Iterator<InternalRow> handleInputRows(Integer id, Iterator<InternalRow> rows, TimerValues timers) {
    Task task = tasks.computeIfAbsent(id, this::newTask);
    java.util.Iterator<InternalRow> copies = copies(CollectionConverters.asJava(rows));
    return CollectionConverters.asScala(new TaskRun(task, form, ordered ? copies : inOrder(copies)));
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
        try {
          return state.getValue(key);
        } catch (Exception e) {
          throw new StateFailure(e);
        }
      }

      @Override
      public void put(byte[] key, byte[] value) {
        try {
          state.updateValue(key, value);
        } catch (Exception e) {
          throw new StateFailure(e);
        }
      }

      @Override
      public void remove(byte[] key) {
        try {
          state.removeKey(key);
        } catch (Exception e) {
          throw new StateFailure(e);
        }
      }

      @Override
      public List<byte[]> keys() {
        try {
          List<byte[]> keys = new ArrayList<>();
          CollectionConverters.asJava(state.keys()).forEachRemaining(keys::add);
          return keys;
        } catch (Exception e) {
          throw new StateFailure(e);
        }
      }
    };
  }

  /** Nodes keep parts of a row beyond its turn, and Spark uses one row object for all. */
  private static java.util.Iterator<InternalRow> copies(java.util.Iterator<InternalRow> rows) {
    return new java.util.Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public InternalRow next() {
        return rows.next().copy();
      }
    };
  }

  private static java.util.Iterator<InternalRow> inOrder(java.util.Iterator<InternalRow> rows) {
    Map<Long, List<InternalRow>> queues = new HashMap<>();
    rows.forEachRemaining(
        row -> queues.computeIfAbsent(row.getLong(TaskRow.QUEUE), queue -> new ArrayList<>()).add(row));
    for (List<InternalRow> queue : queues.values()) {
      queue.sort(Comparator.comparingLong(row -> row.getLong(TaskRow.SEQUENCE)));
    }
    List<java.util.Iterator<InternalRow>> heads = queues.values().stream().map(List::iterator).toList();
    return heads.size() == 1 ? heads.get(0) : new OldestFirst(heads);
  }
}
