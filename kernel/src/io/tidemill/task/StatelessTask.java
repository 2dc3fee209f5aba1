package io.tidemill.task;

import io.tidemill.plan.KeptRows;
import io.tidemill.plan.RowMapper;
import io.tidemill.plan.TaskMap;
import io.tidemill.state.Backend;
import io.tidemill.state.RowCount;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** Runs a {@link Program} that keeps nothing, over partitions as they are. */
public final class StatelessTask implements RowMapper {
  private final Program program;
  private final Dropped dropped;
  private final TaskRow form;

  private StatelessTask(Program program, TaskRow form) {
    this.program = program;
    this.dropped = program.dropped();
    this.form = form;
  }

  /** @param input rows whose partitions are in order; what leaves has the number of the first row's task */
  public static Dataset<Row> apply(Dataset<Row> input, Program program, StructType output) {
    return TaskMap.apply(input, new StatelessTask(program, new TaskRow(input.schema(), output)), output);
  }

  @Override
  public Iterator<InternalRow> map(Iterator<InternalRow> rows) {
    if (!rows.hasNext()) {
      return Collections.emptyIterator();
    }
    KeptRows kept = new KeptRows(rows);
    Task task = new Task(kept.peek().getInt(TaskRow.TASK), program, dropped, name -> new Nothing(), new RowCount(0));
    return new TaskRun(task, form, kept);
  }

  /** The store of a program without state: only clocks ask for it, and none of them runs. */
  private static final class Nothing implements Backend {
    @Override
    public byte[] get(byte[] key) {
      return null;
    }

    @Override
    public void put(byte[] key, byte[] value, boolean added) {
      throw new IllegalStateException("a program without state keeps something");
    }

    @Override
    public void remove(byte[] key) {}

    @Override
    public List<byte[]> keys() {
      return List.of();
    }
  }
}
