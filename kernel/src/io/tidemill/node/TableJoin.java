package io.tidemill.node;

import io.tidemill.row.Evaluator;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.task.Dropped;
import org.apache.spark.sql.types.DataType;

/** Joins two tables by key: a change of either side (input 0 left, 1 right) changes the result. */
public final class TableJoin extends StoredTable {
  private final int[] tables;
  private final Evaluator joiner;
  private final boolean[] outer;

  /**
   * @param joiner of (key, left value, right value)
   * @param store null for a table that is computed from its sides whenever it is looked up
   */
  public TableJoin(String name, int left, int right, Evaluator joiner, boolean leftOuter, boolean rightOuter,
      DataType keyType, DataType valueType, String store, boolean cached) {
    super(name, keyType, valueType, store, cached);
    this.tables = new int[] {left, right};
    this.joiner = joiner;
    this.outer = new boolean[] {leftOuter, rightOuter};
  }

  @Override
  public void process(int side, Rec change) {
    if (change.key() == null) {
      task.drop(Dropped.NULL_KEY);
      return;
    }
    if (!change.latest()) {
      return;
    }
    if (tables[0] == tables[1]) {
      withItself(side, change);
      return;
    }
    Timed other = ((TableNode) task.node(tables[1 - side])).lookup(change.key());
    if (other == null && (!outer[side] || (change.value() == null && change.old() == null))) {
      return;
    }
    long time = other == null ? change.time() : Math.max(change.time(), other.time());
    Object value = join(side, change.key(), change.value(), Timed.valueOf(other));
    Object old = join(side, change.key(), change.old(), Timed.valueOf(other));
    hand(change.change(value, old, time));
  }

  /** Both sides are one table: each change is one change of the result, a deletion too. */
  private void withItself(int side, Rec change) {
    if (side == 0 && (change.value() != null || change.old() != null)) {
      Object value = change.value() == null ? null : joiner.eval(change.key(), change.value(), change.value());
      Object old = change.old() == null ? null : joiner.eval(change.key(), change.old(), change.old());
      hand(change.change(value, old));
    }
  }

  @Override
  protected Timed computed(Object key) {
    Timed left = ((TableNode) task.node(tables[0])).lookup(key);
    Timed right = ((TableNode) task.node(tables[1])).lookup(key);
    if ((left == null && (right == null || !outer[1])) || (right == null && !outer[0])) {
      return null;
    }
    long time = left == null ? right.time() : right == null ? left.time() : Math.max(left.time(), right.time());
    Object value = joiner.eval(key, Timed.valueOf(left), Timed.valueOf(right));
    return value == null ? null : new Timed(value, time);
  }

  /** The row made of this side's value and the other side's; null if these two make none. */
  private Object join(int side, Object key, Object own, Object other) {
    boolean joins = (own != null || outer[1 - side]) && (other != null || outer[side]) && (own != null || other != null);
    if (!joins) {
      return null;
    }
    return side == 0 ? joiner.eval(key, own, other) : joiner.eval(key, other, own);
  }
}
