package io.tidemill.node;

import io.tidemill.row.Bytes;
import io.tidemill.row.Codec;
import io.tidemill.row.Evaluator;
import io.tidemill.row.KeyOrder;
import io.tidemill.row.Rec;
import io.tidemill.state.Blob;
import io.tidemill.state.RecordListCoder;
import io.tidemill.state.Store;
import io.tidemill.state.TimeBuffer;
import io.tidemill.state.TimeIndex;
import io.tidemill.task.Dropped;
import io.tidemill.task.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.types.DataType;

/**
 * Joins two streams by key within a window of time: input 0 is the left side, input 1 the right side.
 *
 * A record meets what the other side still holds, then waits on its own side. A record of an outer side that found no
 * partner is handed on alone once no partner can come any more.
 */
public final class StreamJoin extends Node {
  private static final long NONE = Long.MAX_VALUE;

  private final DataType keyType;
  private final DataType[] valueTypes;
  private final Evaluator joiner;
  private final long before;
  private final long after;
  private final long grace;
  private final long retention;
  private final boolean[] outer;
  private final String[] stores;
  private transient Codec keyCodec;
  private transient Codec[] valueCodecs;
  private transient KeyOrder keyOrder;
  private transient List<Store<TreeMap<Long, List<Object>>>> sides;
  private transient List<TimeIndex> indexes;
  private transient TimeBuffer lonely;
  private transient long[] streamTime;
  private transient long[] lastSeen;
  private transient long[][] storeTime;

  /** @param joiner of (key, left value, right value) */
  public StreamJoin(String name, DataType keyType, DataType leftType, DataType rightType, Evaluator joiner, long before,
      long after, long grace, boolean leftOuter, boolean rightOuter, String leftStore, String rightStore) {
    super(name);
    this.keyType = keyType;
    this.valueTypes = new DataType[] {leftType, rightType};
    this.joiner = joiner;
    this.before = before;
    this.after = after;
    this.grace = grace;
    this.retention = before + after + grace;
    this.outer = new boolean[] {leftOuter, rightOuter};
    this.stores = new String[] {leftStore, rightStore};
  }

  @Override
  public List<String> stores() {
    List<String> all = new ArrayList<>(List.of(stores[0], stores[0] + ".times", stores[1], stores[1] + ".times"));
    if (anyOuter()) {
      all.add(name + ".lonely");
    }
    return all;
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    keyCodec = new Codec(keyType);
    keyOrder = new KeyOrder(keyType);
    valueCodecs = new Codec[] {new Codec(valueTypes[0]), new Codec(valueTypes[1])};
    sides = new ArrayList<>();
    indexes = new ArrayList<>();
    storeTime = new long[2][];
    for (int side = 0; side < 2; side++) {
      sides.add(task.store(stores[side], new RecordListCoder(valueTypes[side])));
      indexes.add(task.timeIndex(stores[side] + ".times", retention / 8));
      storeTime[side] = task.clock(name + "/" + side);
    }
    streamTime = task.clock(name);
    lonely = anyOuter() ? task.timeBuffer(name + ".lonely", retention / 32) : null;
    lastSeen = task.clock(name + "/lonely");
    if (lastSeen[0] == Long.MIN_VALUE) {
      lastSeen[0] = NONE;
    }
  }

  @Override
  public void process(int side, Rec record) {
    streamTime[0] = Math.max(streamTime[0], record.time());
    if (outer[side] && record.key() == null && record.value() != null) {
      forward(record.withValue(join(side, null, record.value(), null)));
      return;
    }
    if (record.key() == null || record.value() == null) {
      if (record.key() != null) {
        // Kafka Streams' store takes it for a deletion of nothing, but sees its time.
        storeTime[side][0] = Math.max(storeTime[side][0], record.time());
      }
      task.drop(record.key() == null ? Dropped.NULL_KEY : Dropped.NULL_VALUE);
      return;
    }
    long ahead = side == 0 ? after : before;
    if (lonely != null && record.time() == streamTime[0] && mayRelease(ahead)) {
      releaseLonely(record);
    }
    Bytes key = keyCodec.key(record.key());
    long back = side == 0 ? before : after;
    boolean found = meet(side, record, key, Math.max(0, record.time() - back), Math.max(0, record.time() + ahead));
    if (outer[side] && !found) {
      if (Math.max(0, record.time() + ahead) < streamTime[0]) {
        forward(record.withValue(join(side, record.key(), record.value(), null)));
      } else {
        await(side, record);
      }
    }
    keep(side, record, key);
  }

  private boolean meet(int side, Rec record, Bytes key, long from, long to) {
    int other = 1 - side;
    TreeMap<Long, List<Object>> partners = sides.get(other).get(key);
    if (partners == null || from > to) {
      return false;
    }
    boolean found = false;
    for (Map.Entry<Long, List<Object>> partner : partners.subMap(from, true, to, true).entrySet()) {
      if (partner.getKey() <= storeTime[other][0] - retention) {
        continue; // expired, though not yet cleared away
      }
      found = true;
      if (lonely != null && outer[other]) {
        lonely.remove(partner.getKey(), tie(other, record.key()));
      }
      for (Object value : partner.getValue()) {
        Object joined = join(side, record.key(), record.value(), value);
        forward(record.change(joined, null, Math.max(record.time(), partner.getKey())));
      }
    }
    return found;
  }

  private void keep(int side, Rec record, Bytes key) {
    storeTime[side][0] = Math.max(storeTime[side][0], record.time());
    if (record.time() <= storeTime[side][0] - retention) {
      return; // the store would not show it to anybody
    }
    TreeMap<Long, List<Object>> own = sides.get(side).get(key);
    if (own == null) {
      own = new TreeMap<>();
    }
    own.computeIfAbsent(record.time(), time -> new ArrayList<>(1)).add(record.value());
    sides.get(side).put(key, own);
    indexes.get(side).add(record.time(), key);
  }

  private void await(int side, Rec record) {
    lastSeen[0] = Math.min(lastSeen[0], record.time());
    Bytes tie = tie(side, record.key());
    byte[] waiting = lonely.get(record.time(), tie);
    byte[] key = keyCodec.encode(record.key());
    byte[] value = valueCodecs[side].encode(record.value());
    lonely.put(record.time(), tie, Blob.write(out -> {
      if (waiting == null) {
        Blob.writeBytes(out, key);
      } else {
        out.write(waiting);
      }
      Blob.writeBytes(out, value);
    }));
  }

  /**
   * Kafka Streams looks for what is due only when the last record it looked at may be, or an earlier one that came
   * since, by the window of the side at work. So some records leave later than they could; a partner may still come.
   */
  private boolean mayRelease(long ahead) {
    return lastSeen[0] == NONE || lastSeen[0] + ahead + grace < streamTime[0];
  }

  private void releaseLonely(Rec trigger) {
    boolean[] open = {false, false};
    TimeBuffer.Entry entry = lonely.first();
    lastSeen[0] = NONE;
    while (entry != null) {
      lastSeen[0] = entry.time();
      if (open[0] && open[1]) {
        return;
      }
      TimeBuffer.Entry next = lonely.after(entry);
      int side = 1 - entry.tie().get()[0];
      if (entry.time() + (side == 0 ? after : before) + grace >= streamTime[0]) {
        open[side] = true;
      } else {
        lonely.remove(entry.time(), entry.tie());
        release(side, entry, trigger);
      }
      entry = next;
    }
  }

  private void release(int side, TimeBuffer.Entry entry, Rec trigger) {
    Blob.read(entry.payload(), in -> {
      Object key = keyCodec.decode(Blob.readBytes(in))[0];
      while (in.available() > 0) {
        Object value = valueCodecs[side].decode(Blob.readBytes(in))[0];
        forward(new Rec(key, join(side, key, value, null), entry.time(), trigger.headers()));
      }
      return null;
    });
  }

  /** At the same time the right side goes first, then the smaller key: the order of Kafka Streams' store. */
  private Bytes tie(int side, Object key) {
    byte[] order = keyOrder.of(key).get();
    byte[] tie = new byte[order.length + 1];
    tie[0] = (byte) (1 - side);
    System.arraycopy(order, 0, tie, 1, order.length);
    return new Bytes(tie);
  }

  private Object join(int side, Object key, Object own, Object other) {
    return side == 0 ? joiner.eval(key, own, other) : joiner.eval(key, other, own);
  }

  private boolean anyOuter() {
    return outer[0] || outer[1];
  }

  @Override
  public void save() {
    for (int side = 0; side < 2; side++) {
      forget(side);
      sides.get(side).save();
      indexes.get(side).save();
    }
    if (lonely != null) {
      lonely.save();
    }
  }

  private void forget(int side) {
    if (storeTime[side][0] == Long.MIN_VALUE) {
      return;
    }
    long limit = storeTime[side][0] - retention;
    if (!indexes.get(side).anyDue(limit)) {
      return;
    }
    for (Bytes key : indexes.get(side).due(limit)) {
      TreeMap<Long, List<Object>> own = sides.get(side).get(key);
      if (own != null) {
        own.headMap(limit, true).clear();
        sides.get(side).put(key, own.isEmpty() ? null : own);
      }
    }
  }
}
