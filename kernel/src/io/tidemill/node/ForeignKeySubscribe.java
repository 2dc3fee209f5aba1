package io.tidemill.node;

import io.tidemill.row.Codec;
import io.tidemill.row.Evaluator;
import io.tidemill.row.Rec;
import io.tidemill.task.Dropped;
import io.tidemill.task.Task;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * The left side of a foreign-key join: tells the right side which row now refers to which key.
 *
 * Its first child gets subscriptions (foreign key, struct of left key, left value, version, instruction); its second
 * child gets answers that need no right row (left key, struct of version, result, whether the left row is gone).
 */
public final class ForeignKeySubscribe extends Node {
  /** Answer with the joined row, or not at all if there is no right row. */
  static final int SUBSCRIBE_QUIETLY = 0;
  /** Answer in any case: what was joined before is no longer true. */
  static final int SUBSCRIBE = 1;
  static final int UNSUBSCRIBE_QUIETLY = 2;
  /** The left row is gone: answer with a deletion. */
  static final int UNSUBSCRIBE = 3;

  private final Evaluator foreignKey;
  private final Evaluator joiner;
  private final boolean left;
  private transient Codec foreignKeyCodec;
  private transient long[] version;

  public ForeignKeySubscribe(String name, Evaluator foreignKey, Evaluator joiner, boolean left) {
    super(name);
    this.foreignKey = foreignKey;
    this.joiner = joiner;
    this.left = left;
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    foreignKeyCodec = new Codec(foreignKey.type());
    version = task.clock(name + "/version");
  }

  @Override
  public void process(int slot, Rec change) {
    if (change.key() == null) {
      task.drop(Dropped.NULL_KEY);
      return;
    }
    if (!change.latest() || (change.value() == null && change.old() == null)) {
      return;
    }
    version[0] = Math.max(0, version[0] + 1);
    Object refers = change.value() == null ? null : task.eval(foreignKey, change, change.value());
    Object referred = change.old() == null ? null : task.eval(foreignKey, change, change.old());
    if (change.value() == null) {
      removed(change, referred);
    } else if (refers == null) {
      withoutReference(change, referred);
    } else if (referred != null && !same(refers, referred)) {
      subscribe(change, referred, UNSUBSCRIBE_QUIETLY);
      subscribe(change, refers, SUBSCRIBE);
    } else {
      subscribe(change, refers, left ? SUBSCRIBE : SUBSCRIBE_QUIETLY);
    }
  }

  private void removed(Rec change, Object referred) {
    if (referred != null) {
      subscribe(change, referred, UNSUBSCRIBE);
    } else if (left) {
      answer(change, null, true);
    }
  }

  private void withoutReference(Rec change, Object referred) {
    if (left) {
      if (referred != null) {
        subscribe(change, referred, UNSUBSCRIBE_QUIETLY);
      }
      answer(change, joiner.eval(change.key(), change.value(), null), false);
      return;
    }
    task.drop(Dropped.NULL_KEY);
    if (referred != null) {
      subscribe(change, referred, UNSUBSCRIBE);
    }
  }

  private void subscribe(Rec change, Object key, int instruction) {
    Object request = new GenericInternalRow(new Object[] {change.key(), change.value(), version[0], instruction});
    forwardTo(0, new Rec(key, request, change.time(), change.headers()));
  }

  private void answer(Rec change, Object result, boolean gone) {
    Object answer = new GenericInternalRow(new Object[] {version[0], result, gone});
    forwardTo(1, new Rec(change.key(), answer, change.time(), change.headers()));
  }

  private boolean same(Object one, Object other) {
    return Arrays.equals(foreignKeyCodec.encode(one), foreignKeyCodec.encode(other));
  }
}
