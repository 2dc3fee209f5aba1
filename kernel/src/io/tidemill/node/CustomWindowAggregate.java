package io.tidemill.node;

import io.tidemill.fold.Folder;
import io.tidemill.row.Bytes;
import io.tidemill.row.Evaluator;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.task.Dropped;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataType;

/** Aggregates per key and window of the user's own. A window contains its start, and is told from others by it. */
public final class CustomWindowAggregate extends StartedWindows {
  private static final int REMEMBERED = 10_000;

  private final Evaluator assign;
  private final long grace;
  private final long retention;
  private transient Map<Long, Long> ends;

  /** @param assign from a time in microseconds to an array of (start, end) in milliseconds */
  public CustomWindowAggregate(String name, DataType keyType, List<Folder> folders, String store, boolean cached,
      Evaluator assign, long size, long grace, long retention) {
    super(name, keyType, folders, store, cached, false, Math.max(1, size));
    this.assign = assign;
    this.grace = grace;
    this.retention = retention;
  }

  @Override
  public void process(int slot, Rec record) {
    if (record.key() == null) {
      task.drop(Dropped.NULL_KEY);
      return;
    }
    long closeTime = advance(slot, record.time()) - grace;
    Bytes key = innerKeyBytes(record.key());
    TreeMap<Long, Timed> entries = windowsOf(key);
    ArrayData windows = windowsAt(record.time());
    long[] starts = new long[windows.numElements()];
    for (int i = 0; i < starts.length; i++) {
      InternalRow window = windows.getStruct(i, 2);
      starts[i] = window.getLong(0);
      remember(starts[i], window.getLong(1));
    }
    for (long start : starts) {
      if (endOf(start) > closeTime) {
        fold(slot, record, key, entries, start);
      } else {
        task.drop(Dropped.LATE);
      }
    }
  }

  @Override
  protected long endOf(long start) {
    Long known = ends == null ? null : ends.get(start);
    if (known != null) {
      return known;
    }
    ArrayData windows = windowsAt(start);
    for (int i = 0; i < windows.numElements(); i++) {
      InternalRow window = windows.getStruct(i, 2);
      if (window.getLong(0) == start) {
        remember(start, window.getLong(1));
        return window.getLong(1);
      }
    }
    throw new IllegalStateException("the windows of `" + name + "` at the time " + start
        + " do not hold the one that starts then; a window contains its start");
  }

  @Override
  protected long forgottenUpTo() {
    return storeTime[0] == Long.MIN_VALUE ? Long.MIN_VALUE : storeTime[0] - retention;
  }

  private ArrayData windowsAt(long time) {
    ArrayData windows = (ArrayData) assign.eval(time * 1000);
    if (windows == null) {
      throw new IllegalArgumentException("the windows of `" + name + "` are null for the time " + time
          + "; return an empty array for a record that is in no window");
    }
    return windows;
  }

  private void remember(long start, long end) {
    if (end <= start) {
      throw new IllegalArgumentException("a window of `" + name + "` ends at " + end + ", not after its start " + start);
    }
    if (ends == null || ends.size() >= REMEMBERED) {
      ends = new HashMap<>();
    }
    ends.put(start, end);
  }
}
