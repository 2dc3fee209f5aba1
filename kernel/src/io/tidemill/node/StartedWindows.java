package io.tidemill.node;

import io.tidemill.fold.Folder;
import io.tidemill.row.Bytes;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import java.util.List;
import java.util.TreeMap;
import org.apache.spark.sql.types.DataType;

/** Windows that a timestamp alone decides: each is kept under its start, which tells its end. */
abstract class StartedWindows extends WindowedTable {
  protected StartedWindows(String name, DataType keyType, List<Folder> folders, String store, boolean cached,
      boolean onClose, long indexWidth) {
    super(name, keyType, folders, store, cached, onClose, indexWidth);
  }

  /** The end of the window that starts then; the largest long for one that never ends. */
  protected abstract long endOf(long start);

  /** Folds a record into one of its windows. */
  protected final void fold(int slot, Rec record, Bytes key, TreeMap<Long, Timed> entries, long start) {
    Folder folder = folders[slot];
    Timed entry = entries.get(start);
    Object aggregate = folder.add(record.key(), record.value(), entry == null ? folder.init() : entry.value());
    long time = entry == null ? record.time() : Math.max(record.time(), entry.time());
    Timed now = aggregate == null ? null : new Timed(aggregate, time);
    if (now == null) {
      entries.remove(start);
    } else {
      entries.put(start, now);
    }
    keep(key, entries);
    if (entry == null && aggregate != null && endOf(start) != Long.MAX_VALUE) {
      created(start, key);
    }
    if (!onClose) {
      long at = aggregate == null && isCached() ? record.time() : time;
      changed(key, record, start, endOf(start), now, entry, at);
    }
  }

  @Override
  protected final long startOf(long at, Timed entry) {
    return at;
  }

  @Override
  protected final long endOf(long at, Timed entry) {
    return endOf(at);
  }

  @Override
  protected final long at(long start, long end) {
    return start;
  }
}
