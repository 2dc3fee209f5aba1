package io.tidemill.plan;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * All rows of a task as one: Spark's operator looks at the number of the task once, and not at every row.
 *
 * Rows are made while they are taken, as they would be without it.
 */
public final class Carrier extends GenericInternalRow {
  private final transient Iterator<InternalRow> rows;

  private Carrier(Object[] fields, Iterator<InternalRow> rows) {
    super(fields);
    this.rows = rows;
  }

  /**
   * One row that stands for all, none if there is none.
   *
   * @param given all of one task, whose number is the first of `width` fields
   */
  static Iterator<InternalRow> of(Iterator<InternalRow> given, int width) {
    if (!given.hasNext()) {
      return given;
    }
    KeptRows rows = new KeptRows(given);
    Object[] fields = new Object[width];
    fields[0] = rows.peek().getInt(0);
    return List.<InternalRow>of(new Carrier(fields, rows)).iterator();
  }

  /** The rows a processor was given, whether one carries them or not. */
  public static Iterator<InternalRow> rows(Iterator<InternalRow> given) {
    KeptRows rows = new KeptRows(given);
    return rows.peek() instanceof Carrier carrier ? carrier.rows : rows;
  }
}
