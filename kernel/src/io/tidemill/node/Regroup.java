package io.tidemill.node;

import io.tidemill.row.Codec;
import io.tidemill.row.Evaluator;
import io.tidemill.row.Rec;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Turns a table's change into what its old and its new group must do: records of (group, struct of add and remove).
 *
 * If both are one group, one record does both, so that the group's aggregate changes once.
 */
public final class Regroup extends Node {
  private final Evaluator pair;
  private transient Codec groupCodec;

  /** @param pair computes the struct (new key, new value) of a row */
  public Regroup(String name, Evaluator pair) {
    super(name);
    this.pair = pair;
  }

  @Override
  public void process(int slot, Rec change) {
    if (!change.latest()) {
      return;
    }
    Object[] added = pairOf(change, change.value());
    Object[] removed = pairOf(change, change.old());
    if (added != null && removed != null && sameGroup(added[0], removed[0])) {
      send(change, added[0], added[1], removed[1]);
      return;
    }
    if (removed != null) {
      send(change, removed[0], null, removed[1]);
    }
    if (added != null) {
      send(change, added[0], added[1], null);
    }
  }

  private void send(Rec change, Object group, Object added, Object removed) {
    Object parts = new GenericInternalRow(new Object[] {added, removed});
    forward(new Rec(group, parts, change.time(), change.headers()));
  }

  private Object[] pairOf(Rec change, Object value) {
    if (value == null) {
      return null;
    }
    InternalRow row = (InternalRow) task.eval(pair, change, value);
    StructType type = (StructType) pair.type();
    if (row == null || row.isNullAt(0) || row.isNullAt(1)) {
      return null;
    }
    return new Object[] {row.get(0, type.fields()[0].dataType()), row.get(1, type.fields()[1].dataType())};
  }

  private boolean sameGroup(Object one, Object other) {
    if (groupCodec == null) {
      groupCodec = new Codec(((StructType) pair.type()).fields()[0].dataType());
    }
    return Arrays.equals(groupCodec.encode(one), groupCodec.encode(other));
  }
}
