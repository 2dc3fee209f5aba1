package io.tidemill.node;

import io.tidemill.row.Evaluator;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import org.apache.spark.sql.types.DataType;

/** A table made from another by a predicate or a mapping of values, with a store of its own if it was given one. */
public final class TableStep extends StoredTable {
  private final int parent;
  private final Evaluator function;
  private final boolean filters;
  private final boolean negate;
  private final boolean knowsOld;

  /**
   * @param filters whether the function is a predicate; otherwise it computes the new value
   * @param knowsOld whether old values are told to this node and by it, so that needless deletions are not sent
   * @param store null for a table that is computed from its parent whenever it is looked up
   */
  public TableStep(String name, int parent, Evaluator function, boolean filters, boolean negate, boolean knowsOld,
      DataType keyType, DataType valueType, String store, boolean cached) {
    super(name, keyType, valueType, store, cached);
    this.parent = parent;
    this.function = function;
    this.filters = filters;
    this.negate = negate;
    this.knowsOld = knowsOld;
  }

  @Override
  public void process(int slot, Rec change) {
    Object value = compute(change, change.value());
    Object old = knowsOld ? oldOf(change) : null;
    if (filters && knowsOld && value == null && old == null) {
      return;
    }
    hand(change.change(value, old));
  }

  /** A step with rows of its own knows by itself what a row was, whether its table tells or not. */
  private Object oldOf(Rec change) {
    return keepsRows() ? Timed.valueOf(lookup(change.key())) : compute(change, change.old());
  }

  @Override
  protected Timed computed(Object key) {
    Timed row = ((TableNode) task.node(parent)).lookup(key);
    if (row == null) {
      return null;
    }
    Object value = compute(new Rec(key, row.value(), row.time(), null), row.value());
    return value == null ? null : new Timed(value, row.time());
  }

  private Object compute(Rec record, Object value) {
    if (value == null) {
      return null;
    }
    if (filters) {
      return task.test(function, record, value) != negate ? value : null;
    }
    return task.eval(function, record, value);
  }
}
