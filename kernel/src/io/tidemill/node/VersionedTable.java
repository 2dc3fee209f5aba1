package io.tidemill.node;

import io.tidemill.row.Bytes;
import io.tidemill.row.Codec;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Backend;
import io.tidemill.state.Store;
import io.tidemill.state.TimeIndex;
import io.tidemill.state.TimelineCoder;
import io.tidemill.task.Dropped;
import io.tidemill.task.Task;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.apache.spark.sql.types.DataType;

/** Reads a stream as a table that remembers its history: rows can be looked up as of an earlier time. */
public final class VersionedTable extends TableNode {
  private final DataType valueType;
  private final String store;
  private final long history;
  private transient Store<TreeMap<Long, Timed>> versions;
  private transient TimeIndex index;
  private transient long[] streamTime;

  public VersionedTable(String name, DataType keyType, DataType valueType, String store, long history) {
    super(name, keyType, false);
    this.valueType = valueType;
    this.store = store;
    this.history = history;
  }

  @Override
  public List<String> stores() {
    return List.of(store, store + ".times");
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    versions = task.store(store, new TimelineCoder(valueType));
    index = task.timeIndex(store + ".times", history / 8);
    streamTime = task.clock(name);
  }

  @Override
  public void process(int slot, Rec record) {
    if (record.key() == null) {
      task.drop(Dropped.NULL_KEY);
      return;
    }
    if (streamTime[0] != Long.MIN_VALUE && record.time() < streamTime[0] - history) {
      task.drop(Dropped.LATE);
      return;
    }
    streamTime[0] = Math.max(streamTime[0], record.time());
    Bytes key = keyBytes(record.key());
    TreeMap<Long, Timed> own = versions.get(key);
    if (own == null) {
      own = new TreeMap<>();
    }
    Object old = own.isEmpty() ? null : own.lastEntry().getValue().value();
    boolean latest = own.isEmpty() || record.time() >= own.lastKey();
    own.put(record.time(), new Timed(record.value(), record.time()));
    versions.put(key, own);
    index.add(record.time(), key);
    forward(new Rec(record.key(), record.value(), old, record.time(), record.headers(), latest));
  }

  @Override
  public Timed lookup(Object key) {
    TreeMap<Long, Timed> own = versions.get(keyBytes(key));
    return own == null ? null : present(own.lastEntry());
  }

  /** The row that was valid at a time; null if there was none, or if that is longer ago than history reaches. */
  public Timed lookup(Object key, long asOf) {
    TreeMap<Long, Timed> own = versions.get(keyBytes(key));
    if (own == null) {
      return null;
    }
    if (own.lastKey() <= asOf) {
      return present(own.lastEntry());
    }
    return asOf < streamTime[0] - history ? null : present(own.floorEntry(asOf));
  }

  /** All versions of all rows; a deletion is a version without a value. */
  @Override
  public void each(Backend stored, BiConsumer<Object, Timed> out) {
    Codec keys = new Codec(keyType);
    for (byte[] bytes : stored.keys()) {
      Object key = keys.decode(bytes)[0];
      versions.get(new Bytes(bytes)).forEach((from, version) -> out.accept(key, new Timed(version.value(), from)));
    }
  }

  private static Timed present(Map.Entry<Long, Timed> version) {
    return version == null || version.getValue().value() == null ? null : version.getValue();
  }

  @Override
  public void save() {
    long limit = streamTime[0] == Long.MIN_VALUE ? Long.MIN_VALUE : streamTime[0] - history;
    if (limit != Long.MIN_VALUE && index.anyDue(limit)) {
      for (Bytes key : index.due(limit)) {
        forget(key, limit);
      }
    }
    versions.save();
    index.save();
  }

  private void forget(Bytes key, long limit) {
    TreeMap<Long, Timed> own = versions.get(key);
    if (own == null) {
      return;
    }
    Long needed = own.floorKey(limit); // still the valid version at the oldest time that may be asked for
    if (needed != null) {
      own.headMap(needed, false).clear();
      if (own.size() == 1 && own.firstEntry().getValue().value() == null) {
        own.clear();
      } else if (own.size() > 1) {
        index.add(needed, key);
      }
    }
    versions.put(key, own.isEmpty() ? null : own);
  }
}
