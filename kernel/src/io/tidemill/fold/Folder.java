package io.tidemill.fold;

import java.io.Serializable;
import org.apache.spark.sql.types.DataType;

/** How values become an aggregate. An aggregate is never changed in place: old ones may still be in use. */
public abstract class Folder implements Serializable {
  /** The type the aggregate is kept in, which need not be that of its result. */
  public abstract DataType stateType();

  /** The aggregate before the first value; null where the first value stands for itself. */
  public abstract Object init();

  public abstract Object add(Object key, Object value, Object aggregate);

  /** Takes a table's old value back. */
  public Object subtract(Object key, Object value, Object aggregate) {
    throw new UnsupportedOperationException("this aggregation cannot take values back");
  }

  /** Joins two sessions; either may be what {@link #init} gave. */
  public Object merge(Object key, Object left, Object right) {
    throw new UnsupportedOperationException("this aggregation cannot merge");
  }

  /** Whether values may be folded in several heaps and in any order, and the heaps merged, with the same result. */
  public boolean isCombinable() {
    return false;
  }

  /** What is handed on for an aggregate. */
  public Object result(Object aggregate) {
    return aggregate;
  }
}
