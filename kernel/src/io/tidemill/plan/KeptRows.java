package io.tidemill.plan;

import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Rows that can be kept beyond their turn, as nodes do with parts of them.
 *
 * Spark writes its binary rows into one buffer again and again: these are copied. All others are objects of their own.
 */
public final class KeptRows implements Iterator<InternalRow> {
  private final Iterator<InternalRow> rows;
  private InternalRow next;

  public KeptRows(Iterator<InternalRow> rows) {
    this.rows = rows;
  }

  /** The next row, which stays the next one. */
  public InternalRow peek() {
    if (next == null) {
      next = kept(rows.next());
    }
    return next;
  }

  @Override
  public boolean hasNext() {
    return next != null || rows.hasNext();
  }

  @Override
  public InternalRow next() {
    InternalRow row = next;
    next = null;
    return row == null ? kept(rows.next()) : row;
  }

  private static InternalRow kept(InternalRow row) {
    return row instanceof UnsafeRow ? row.copy() : row;
  }
}
