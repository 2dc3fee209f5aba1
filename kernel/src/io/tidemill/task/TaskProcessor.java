package io.tidemill.task;

import io.tidemill.plan.Carrier;
import io.tidemill.plan.OldestFirst;
import io.tidemill.problem.FirstFailure;
import io.tidemill.spark.Stateful;
import io.tidemill.state.FamilyBackend;
import io.tidemill.state.RowCount;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.DriverStatefulProcessorHandleImpl;
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
  private final ProgramPool programs;
  private final String[] stores;
  private final Dropped dropped;
  private final TaskRow form;
  private final boolean ordered;
  private final boolean counting;
  private transient Map<Integer, Task> tasks;
  private transient Map<Integer, RowCount> rows;
  private transient SQLMetric totalRows;
  private transient KnownKeysPool known;

  private TaskProcessor(Program program, TaskRow form, boolean ordered, boolean counting) {
    this.programs = new ProgramPool(program);
    this.stores = program.stores().toArray(new String[0]);
    this.dropped = program.dropped();
    this.form = form;
    this.ordered = ordered;
    this.counting = counting;
  }

  /**
   * @param output what {@link io.tidemill.node.Output} nodes write
   * @param ordered whether the rows of a task already come in order
   * @param counting whether Spark itself does not count the rows of its state store
   */
  public static Dataset<Row> apply(
      Dataset<Row> input, Program program, StructType output, boolean ordered, boolean counting) {
    StructType schema = input.schema();
    var processor = new TaskProcessor(program, new TaskRow(schema, output), ordered, counting);
    return Stateful.transform(input, schema.fieldNames()[TaskRow.TASK], processor, output);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    FirstFailure.watch();
    if (getHandle() instanceof DriverStatefulProcessorHandleImpl) {
      // The driver only asks what there is, to write it down with the checkpoint.
      for (String name : stores) {
        getHandle().getMapState(name, Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
      }
    } else {
      rows = new HashMap<>();
      FamilyBackend.everyTask(getHandle(), Program.CLOCKS, Program.ROWS)
          .forEach((id, saved) -> rows.put(id, new RowCount(ByteBuffer.wrap(saved).getLong())));
      totalRows = FamilyBackend.totalRows(getHandle());
      known = KnownKeysPool.of(programs.id(), FamilyBackend.storeOf(getHandle()));
    }
    tasks = new HashMap<>();
  }

  @Override
  public Iterator<InternalRow> handleInputRows(Integer id, Iterator<InternalRow> rows, TimerValues timers) {
    Task task = tasks.computeIfAbsent(id, this::newTask);
    java.util.Iterator<InternalRow> all = Carrier.rows(CollectionConverters.asJava(rows));
    return CollectionConverters.asScala(new TaskRun(task, form, ordered ? all : inOrder(all)));
  }

  private Task newTask(int id) {
    RowCount counted = rows.computeIfAbsent(id, this::count);
    // What is beside the clocks is no row of a store.
    return new Task(id, programs.take(), dropped, name ->
        backend(id, name, name.equals(Program.CLOCKS) ? new RowCount(0) : counted), counted);
  }

  /** Counts the rows of a task whose state has no number yet. */
  private RowCount count(int id) {
    long found = 0;
    for (String name : stores) {
      if (!name.equals(Program.CLOCKS)) {
        found += backend(id, name, new RowCount(0)).keys().size();
      }
    }
    return new RowCount(found);
  }

  private FamilyBackend backend(int id, String name, RowCount counted) {
    return FamilyBackend.of(getHandle(), name, id, counted, known.take(id, name));
  }

  @Override
  public void close() {
    if (tasks != null) {
      tasks.values().stream().filter(Task::isFinished).forEach(task -> programs.giveBack(task.release()));
    }
    if (counting && rows != null) {
      rows.values().forEach(counted -> totalRows.add(counted.get()));
    }
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
