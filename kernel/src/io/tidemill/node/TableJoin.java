package io.tidemill.node;

import io.tidemill.row.Bytes;
import io.tidemill.row.Evaluator;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Store;
import io.tidemill.state.TimedCoder;
import io.tidemill.task.Dropped;
import io.tidemill.task.Task;
import java.util.List;
import org.apache.spark.sql.types.DataType;

/** Joins two tables by key: a change of either side (input 0 left, 1 right) changes the result. */
public final class TableJoin extends TableNode {
  private final int[] tables;
  private final Evaluator joiner;
  private final boolean[] outer;
  private final DataType valueType;
  private final String store;
  private transient Store<Timed> rows;

  /**
   * @param joiner of (key, left value, right value)
   * @param store null for a table that is computed from its sides whenever it is looked up
   */
  public TableJoin(String name, int left, int right, Evaluator joiner, boolean leftOuter, boolean rightOuter,
      DataType keyType, DataType valueType, String store, boolean cached) {
    super(name, keyType, cached && store != null);
    this.tables = new int[] {left, right};
    this.joiner = joiner;
    this.outer = new boolean[] {leftOuter, rightOuter};
    this.valueType = valueType;
    this.store = store;
  }

  @Override
  public List<String> stores() {
    return store == null ? List.of() : List.of(store);
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    rows = store == null ? null : task.store(store, new TimedCoder(valueType));
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

  private void hand(Rec result) {
    if (rows == null) {
      forward(result);
      return;
    }
    Bytes key = keyBytes(result.key());
    Object stored = Timed.valueOf(rows.get(key));
    rows.put(key, result.value() == null ? null : new Timed(result.value(), result.time()));
    update(key, result.change(result.value(), stored));
  }

  @Override
  public Timed lookup(Object key) {
    if (rows != null) {
      return rows.get(keyBytes(key));
    }
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

  @Override
  public void save() {
    if (rows != null) {
      rows.save();
    }
  }
}
