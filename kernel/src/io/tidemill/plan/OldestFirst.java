package io.tidemill.plan;

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

  private final PriorityQueue<Head> heads = new PriorityQueue<>();
  private Head taken;

  public OldestFirst(List<? extends Iterator<InternalRow>> queues) {
    for (Iterator<InternalRow> queue : queues) {
      Head head = new Head(queue);
      if (head.advance()) {
        heads.add(head);
      }
    }
  }

  @Override
  public boolean hasNext() {
    return !heads.isEmpty() || (taken != null && taken.rest.hasNext());
  }

  @Override
  public InternalRow next() {
    if (taken != null && taken.advance()) {
      // Records of one queue often follow each other: only one that is no longer the oldest goes back.
      if (!heads.isEmpty() && taken.compareTo(heads.peek()) > 0) {
        heads.add(taken);
        taken = heads.remove();
      }
      return taken.row;
    }
    taken = null;
    if (heads.isEmpty()) {
      throw new NoSuchElementException();
    }
    taken = heads.remove();
    return taken.row;
  }

  /** The next row of a queue; its iterator may use one row object again and again, but each queue has its own. */
  private static final class Head implements Comparable<Head> {
    final Iterator<InternalRow> rest;
    InternalRow row;
    private long time;
    private long queue;

    Head(Iterator<InternalRow> rest) {
      this.rest = rest;
    }

    boolean advance() {
      if (!rest.hasNext()) {
        return false;
      }
      row = rest.next();
      time = row.getLong(TIME);
      queue = row.getLong(QUEUE);
      return true;
    }

    @Override
    public int compareTo(Head that) {
      return time == that.time ? Long.compare(queue, that.queue) : Long.compare(time, that.time);
    }
  }
}
