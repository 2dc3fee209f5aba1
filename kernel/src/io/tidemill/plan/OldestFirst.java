package io.tidemill.plan;

import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Takes the row with the smallest timestamp among the heads of all queues, as Kafka Streams picks a task's next record.
 *
 * A row is valid until the next one is asked for.
 */
public final class OldestFirst implements Iterator<InternalRow> {
  private static final int QUEUE = 2;
  private static final int TIME = 4;

  private final PriorityQueue<Head> heads = new PriorityQueue<>(
      Comparator.<Head>comparingLong(head -> head.row.getLong(TIME)).thenComparingLong(head -> head.row.getLong(QUEUE)));
  private Head taken;

  public OldestFirst(List<? extends Iterator<InternalRow>> queues) {
    queues.forEach(queue -> push(new Head(queue)));
  }

  @Override
  public boolean hasNext() {
    return !heads.isEmpty() || (taken != null && taken.rest.hasNext());
  }

  @Override
  public InternalRow next() {
    if (taken != null) {
      push(taken);
      taken = null;
    }
    if (heads.isEmpty()) {
      throw new NoSuchElementException();
    }
    taken = heads.remove();
    return taken.row;
  }

  /** A queue's iterator may use one row object again and again, but each queue has its own. */
  private void push(Head head) {
    if (head.rest.hasNext()) {
      head.row = head.rest.next();
      heads.add(head);
    }
  }

  private static final class Head {
    final Iterator<InternalRow> rest;
    InternalRow row;

    Head(Iterator<InternalRow> rest) {
      this.rest = rest;
    }
  }
}
