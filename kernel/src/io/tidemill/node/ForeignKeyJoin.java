package io.tidemill.node;

import io.tidemill.row.Bytes;
import io.tidemill.row.Codec;
import io.tidemill.row.Evaluator;
import io.tidemill.row.KeyOrder;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Blob;
import io.tidemill.state.Coder;
import io.tidemill.state.Store;
import io.tidemill.task.Task;
import java.util.List;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;

/**
 * The right side of a foreign-key join: keeps who refers to each of its keys (input 0) and answers them, also when the
 * right row itself changes (input 1). Answers are (left key, struct of version, result, whether the left row is gone).
 */
public final class ForeignKeyJoin extends Node {
  private final int right;
  private final DataType foreignKeyType;
  private final DataType leftKeyType;
  private final DataType leftValueType;
  private final Evaluator joiner;
  private final boolean left;
  private final String store;
  private transient Codec foreignKeyCodec;
  private transient KeyOrder leftOrder;
  private transient Store<TreeMap<Bytes, Subscriber>> subscribers;

  public ForeignKeyJoin(String name, int right, DataType foreignKeyType, DataType leftKeyType, DataType leftValueType,
      Evaluator joiner, boolean left, String store) {
    super(name);
    this.right = right;
    this.foreignKeyType = foreignKeyType;
    this.leftKeyType = leftKeyType;
    this.leftValueType = leftValueType;
    this.joiner = joiner;
    this.left = left;
    this.store = store;
  }

  @Override
  public List<String> stores() {
    return List.of(store);
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    foreignKeyCodec = new Codec(foreignKeyType);
    leftOrder = new KeyOrder(leftKeyType);
    subscribers = task.store(store, new SubscribersCoder());
  }

  @Override
  public void process(int slot, Rec record) {
    if (slot == 0) {
      requested(record);
    } else if (record.latest()) {
      rightChanged(record);
    }
  }

  @Override
  public void save() {
    subscribers.save();
  }

  private void requested(Rec record) {
    InternalRow request = (InternalRow) record.value();
    Object key = request.get(0, leftKeyType);
    Object value = request.isNullAt(1) ? null : request.get(1, leftValueType);
    Subscriber subscriber = new Subscriber(key, value, request.getLong(2));
    int instruction = request.getInt(3);
    subscribe(foreignKeyCodec.key(record.key()), subscriber, instruction);
    if (instruction == ForeignKeySubscribe.UNSUBSCRIBE_QUIETLY) {
      return;
    }
    Timed row = ((TableNode) task.node(right)).lookup(record.key());
    long time = row == null ? record.time() : Math.max(record.time(), row.time());
    if (instruction == ForeignKeySubscribe.UNSUBSCRIBE) {
      answer(record, subscriber, null, time, value == null);
    } else if (row != null || instruction == ForeignKeySubscribe.SUBSCRIBE) {
      answer(record, subscriber, result(subscriber, Timed.valueOf(row)), time, false);
    }
  }

  private void subscribe(Bytes foreignKey, Subscriber subscriber, int instruction) {
    TreeMap<Bytes, Subscriber> all = subscribers.get(foreignKey);
    if (all == null) {
      all = new TreeMap<>();
    }
    Bytes order = leftOrder.of(subscriber.key);
    if (instruction == ForeignKeySubscribe.UNSUBSCRIBE || instruction == ForeignKeySubscribe.UNSUBSCRIBE_QUIETLY) {
      all.remove(order);
    } else {
      all.put(order, subscriber);
    }
    subscribers.put(foreignKey, all.isEmpty() ? null : all);
  }

  private void rightChanged(Rec change) {
    if (change.key() == null) {
      return;
    }
    TreeMap<Bytes, Subscriber> all = subscribers.get(foreignKeyCodec.key(change.key()));
    if (all != null) {
      for (Subscriber subscriber : List.copyOf(all.values())) {
        answer(change, subscriber, result(subscriber, change.value()), change.time(), false);
      }
    }
  }

  private Object result(Subscriber subscriber, Object rightValue) {
    return rightValue == null && !left ? null : joiner.eval(subscriber.key, subscriber.value, rightValue);
  }

  private void answer(Rec cause, Subscriber subscriber, Object result, long time, boolean gone) {
    Object answer = new GenericInternalRow(new Object[] {subscriber.version, result, gone});
    forward(new Rec(subscriber.key, answer, time, cause.headers()));
  }

  private record Subscriber(Object key, Object value, long version) {}

  private final class SubscribersCoder implements Coder<TreeMap<Bytes, Subscriber>> {
    private final Codec row = new Codec(leftKeyType, leftValueType);

    @Override
    public byte[] encode(TreeMap<Bytes, Subscriber> all) {
      return Blob.write(out -> {
        out.writeInt(all.size());
        for (Subscriber subscriber : all.values()) {
          out.writeLong(subscriber.version);
          Blob.writeBytes(out, row.encode(subscriber.key, subscriber.value));
        }
      });
    }

    @Override
    public TreeMap<Bytes, Subscriber> decode(byte[] bytes) {
      return Blob.read(bytes, in -> {
        TreeMap<Bytes, Subscriber> all = new TreeMap<>();
        for (int count = in.readInt(); count > 0; count--) {
          long version = in.readLong();
          Object[] fields = row.decode(Blob.readBytes(in));
          all.put(leftOrder.of(fields[0]), new Subscriber(fields[0], fields[1], version));
        }
        return all;
      });
    }
  }
}
