package io.tidemill.node;

import io.tidemill.fold.Folder;
import io.tidemill.row.Bytes;
import io.tidemill.row.Codec;
import io.tidemill.row.KeyOrder;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Backend;
import io.tidemill.state.Store;
import io.tidemill.state.TimeIndex;
import io.tidemill.state.TimelineCoder;
import io.tidemill.task.Task;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * What all windowed aggregations share: windows kept per key in time order, clocks, closing and forgetting.
 *
 * A window is kept under one long (its start; a session under its end). Stream time is per input, as Kafka Streams
 * keeps it per processor; what the store still holds is judged by the latest window put into it.
 */
abstract class WindowedTable extends TableNode {
  protected final DataType innerKeyType;
  protected final Folder[] folders;
  protected final boolean onClose;
  private final String store;
  private final long indexWidth;
  protected transient Store<TreeMap<Long, Timed>> windows;
  private transient TimeIndex index;
  private transient TimeIndex closing;
  protected transient long[][] streamTime;
  protected transient long[] storeTime;
  protected transient long[] closedUpTo;
  private transient long[] handedOn;
  private transient Codec innerKey;
  private transient KeyOrder innerOrder;
  private transient Map<WindowId, Held> emptied;

  protected WindowedTable(String name, DataType innerKeyType, List<Folder> folders, String store, boolean cached,
      boolean onClose, long indexWidth) {
    super(name, windowedKey(innerKeyType), cached && !onClose);
    this.innerKeyType = innerKeyType;
    this.folders = folders.toArray(new Folder[0]);
    this.store = store;
    this.onClose = onClose;
    this.indexWidth = indexWidth;
  }

  /** The key of a windowed table: the record's key and the window's bounds. */
  public static StructType windowedKey(DataType innerKeyType) {
    return new StructType().add("key", innerKeyType)
        .add("start", DataTypes.TimestampType).add("end", DataTypes.TimestampType);
  }

  @Override
  public List<String> stores() {
    return onClose ? List.of(store, store + ".times", store + ".closing") : List.of(store, store + ".times");
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    windows = task.store(store, new TimelineCoder(folders[0].stateType()));
    index = task.timeIndex(store + ".times", indexWidth);
    // Exact, because a window must be handed on by the very record that closes it.
    closing = onClose ? task.timeIndex(store + ".closing", 1) : null;
    innerKey = new Codec(innerKeyType);
    innerOrder = new KeyOrder(innerKeyType);
    streamTime = new long[folders.length][];
    for (int slot = 0; slot < folders.length; slot++) {
      streamTime[slot] = task.clock(name + "/" + slot);
    }
    storeTime = task.clock(name + "/store");
    closedUpTo = task.clock(name + "/closed");
    handedOn = task.clock(name + "/handed");
  }

  @Override
  public void save() {
    forget();
    windows.save();
    index.save();
    if (onClose) {
      closing.save();
    }
  }

  /** Entries at or before this time are no longer needed by anybody. */
  protected abstract long forgottenUpTo();

  /** The start of the window kept under this time, in milliseconds; and its end. */
  protected abstract long startOf(long at, Timed entry);

  protected abstract long endOf(long at, Timed entry);

  /** The timestamp of a window's result. */
  protected long timeOf(long at, Timed entry) {
    return entry.time();
  }

  protected final long advance(int slot, long time) {
    streamTime[slot][0] = Math.max(streamTime[slot][0], time);
    return streamTime[slot][0];
  }

  protected final Bytes innerKeyBytes(Object key) {
    return innerKey.key(key);
  }

  protected final Object innerKeyOf(Bytes bytes) {
    return innerKey.decode(bytes.get())[0];
  }

  protected final TreeMap<Long, Timed> windowsOf(Bytes key) {
    TreeMap<Long, Timed> found = windows.get(key);
    return found == null ? new TreeMap<>() : found;
  }

  protected final void keep(Bytes key, TreeMap<Long, Timed> entries) {
    windows.put(key, entries.isEmpty() ? null : entries);
  }

  /** To be called for every window that comes into being, with the time it is kept under. */
  protected final void created(long at, Bytes key) {
    storeTime[0] = Math.max(storeTime[0], at);
    index.add(at, key);
    if (onClose) {
      closing.add(at, key);
    }
  }

  /** Tells of what became of a window, `now` and `before` being null where it is, or was, not there. */
  protected final void changed(Bytes key, Rec record, long start, long end, Timed now, Timed before, long at) {
    if (!isCached()) {
      Object windowed = windowed(record.key(), start, end);
      update(null, record.withKey(windowed).change(Timed.valueOf(now), Timed.valueOf(before), at));
      return;
    }
    // What is held back is found by the window itself: a map of all windows would cost more than the folding.
    Held held = before == null ? emptied(key, start, end) : (Held) before.note;
    if (!isHeld(held)) {
      held = begin(windowed(record.key(), start, end), Timed.valueOf(before));
    }
    hold(held, record, Timed.valueOf(now), at);
    if (now != null) {
      now.note = held;
    } else {
      if (emptied == null) {
        emptied = new HashMap<>();
      }
      emptied.put(new WindowId(key, start, end), held);
    }
  }

  /** The update that is held back of a window that became empty in this batch. */
  private Held emptied(Bytes key, long start, long end) {
    return emptied == null ? null : emptied.remove(new WindowId(key, start, end));
  }

  @Override
  public void flush() {
    super.flush();
    emptied = null;
  }

  protected final Object windowed(Object key, long start, long end) {
    return new GenericInternalRow(new Object[] {key, micros(start), micros(end)});
  }

  @Override
  protected Object told(Object aggregate) {
    return folders[0].result(aggregate);
  }

  private Object result(Timed entry) {
    return entry == null ? null : folders[0].result(entry.value());
  }

  /**
   * Forwards every window that ended in (closedUpTo, upTo] and was not yet, oldest first.
   *
   * @param lastEnd the largest end, inclusive, of a window that takes no more records
   */
  protected final void emitClosed(Rec trigger, long lastEnd, long lastIndexTime) {
    if (!onClose || lastEnd <= closedUpTo[0]) {
      return;
    }
    List<Closed> closed = new ArrayList<>();
    if (closing.anyDue(lastIndexTime)) {
      for (Bytes key : closing.due(lastIndexTime)) {
        Object inner = innerKeyOf(key);
        Bytes order = innerOrder.of(inner);
        windowsOf(key).headMap(lastIndexTime, true).forEach((at, entry) -> {
          long end = endOf(at, entry);
          if (end > closedUpTo[0] && end <= lastEnd) {
            closed.add(new Closed(at, order, inner, entry));
          }
        });
      }
    }
    closedUpTo[0] = lastEnd;
    handedOn[0] = lastIndexTime;
    closed.sort(Comparator.<Closed>comparingLong(Closed::at).thenComparing(Closed::order));
    for (Closed window : closed) {
      Object key = windowed(window.key, startOf(window.at, window.entry), endOf(window.at, window.entry));
      forward(new Rec(key, result(window.entry), null, timeOf(window.at, window.entry), trigger.headers(), true));
    }
  }

  @Override
  public Timed lookup(Object key) {
    InternalRow row = (InternalRow) key;
    Object inner = row.isNullAt(0) ? null : row.get(0, innerKeyType);
    long at = at(millis(row.getLong(1)), millis(row.getLong(2)));
    Timed entry = windowsOf(innerKeyBytes(inner)).get(at);
    return entry == null ? null : new Timed(result(entry), timeOf(at, entry));
  }

  @Override
  public void each(Backend stored, BiConsumer<Object, Timed> out) {
    for (byte[] bytes : stored.keys()) {
      Bytes key = new Bytes(bytes);
      windowsOf(key).tailMap(forgottenUpTo(), false).forEach((at, entry) -> out.accept(
          windowed(innerKeyOf(key), startOf(at, entry), endOf(at, entry)), new Timed(result(entry), timeOf(at, entry))));
    }
  }

  /** Under which time the window of these bounds is kept. */
  protected abstract long at(long start, long end);

  private void forget() {
    long limit = onClose ? Math.min(forgottenUpTo(), handedOn[0]) : forgottenUpTo();
    if (limit == Long.MIN_VALUE || !index.anyDue(limit)) {
      return;
    }
    for (Bytes key : index.due(limit)) {
      TreeMap<Long, Timed> entries = windowsOf(key);
      if (!entries.headMap(limit, true).isEmpty()) {
        entries.headMap(limit, true).clear();
        keep(key, entries);
      }
    }
  }

  private static long micros(long millis) {
    return millis == Long.MAX_VALUE ? Long.MAX_VALUE : millis * 1000;
  }

  private static long millis(long micros) {
    return micros == Long.MAX_VALUE ? Long.MAX_VALUE : Math.floorDiv(micros, 1000L);
  }

  private record WindowId(Bytes key, long start, long end) {
    @Override
    public int hashCode() {
      return 31 * (31 * key.hashCode() + Long.hashCode(start)) + Long.hashCode(end);
    }
  }

  private record Closed(long at, Bytes order, Object key, Timed entry) {}
}
