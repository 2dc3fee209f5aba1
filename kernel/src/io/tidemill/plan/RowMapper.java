package io.tidemill.plan;

import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;

/** Turns the rows of one partition into others. */
public interface RowMapper extends Serializable {
  Iterator<InternalRow> map(Iterator<InternalRow> rows);

  /** Whether the rows it gives are in Spark's binary form already. */
  default boolean givesBinaryRows() {
    return false;
  }
}
