package io.tidemill.task;

import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;

/** The results of a task for the rows of a batch. Pulls records through only as fast as their results are taken. */
final class TaskRun implements Iterator<InternalRow> {
  private final Task task;
  private final TaskRow form;
  private final Iterator<InternalRow> rows;
  private boolean finished;

  TaskRun(Task task, TaskRow form, Iterator<InternalRow> rows) {
    this.task = task;
    this.form = form;
    this.rows = rows;
  }

  @Override
  public boolean hasNext() {
    while (task.outputs.isEmpty() && rows.hasNext()) {
      form.enter(task, rows.next());
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
}
