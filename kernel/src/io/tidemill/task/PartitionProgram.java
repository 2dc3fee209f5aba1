package io.tidemill.task;

import io.tidemill.spark.Mapped;
import io.tidemill.state.Backend;
import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Runs a {@link Program} without state where its records were read: nothing is shuffled, and records of a partition
 * stay in their order.
 */
public final class PartitionProgram implements Mapped.Function, Serializable {
  private final Program program;
  private final TaskRow form;

  private PartitionProgram(Program program, TaskRow form) {
    this.program = program;
    this.form = form;
  }

  public static Dataset<Row> apply(Dataset<Row> input, Program program, StructType output) {
    return Mapped.transform(input, new PartitionProgram(program, new TaskRow(input.schema(), output)), output);
  }

  @Override
  public Iterator<InternalRow> apply(Iterator<InternalRow> rows) {
    Task task = new Task(0, program, name -> NOTHING);
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        while (task.outputs.isEmpty() && rows.hasNext()) {
          form.enter(task, rows.next().copy());
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
    };
  }

  private static final Backend NOTHING = new Backend() {
    @Override
    public byte[] get(byte[] key) {
      return null;
    }

    @Override
    public void put(byte[] key, byte[] value) {
      throw new UnsupportedOperationException("a program without state keeps nothing");
    }

    @Override
    public void remove(byte[] key) {
      throw new UnsupportedOperationException("a program without state keeps nothing");
    }

    @Override
    public List<byte[]> keys() {
      return List.of();
    }
  };
}
