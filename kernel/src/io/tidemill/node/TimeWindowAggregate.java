package io.tidemill.node;

import io.tidemill.fold.Folder;
import io.tidemill.row.Bytes;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.task.Dropped;
import java.util.List;
import java.util.TreeMap;
import org.apache.spark.sql.types.DataType;

/** Aggregates per key and tumbling, hopping or unlimited window. */
public final class TimeWindowAggregate extends StartedWindows {
  private final long size;
  private final long advance;
  private final long grace;
  private final long retention;
  private final long unlimitedStart;
  private final boolean unlimited;

  public TimeWindowAggregate(String name, DataType keyType, List<Folder> folders, String store, boolean cached,
      boolean onClose, long size, long advance, long grace, long retention) {
    super(name, keyType, folders, store, cached, onClose, advance);
    this.size = size;
    this.advance = advance;
    this.grace = grace;
    this.retention = retention;
    this.unlimited = false;
    this.unlimitedStart = 0;
  }

  /** One window from `start` that never ends. */
  public TimeWindowAggregate(String name, DataType keyType, List<Folder> folders, String store, boolean cached,
      long start) {
    super(name, keyType, folders, store, cached, false, Long.MAX_VALUE / 4);
    this.size = Long.MAX_VALUE;
    this.advance = Long.MAX_VALUE;
    this.grace = 0;
    this.retention = Long.MAX_VALUE;
    this.unlimited = true;
    this.unlimitedStart = start;
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
    if (unlimited) {
      if (record.time() >= unlimitedStart) {
        fold(slot, record, key, entries, unlimitedStart);
      }
      return;
    }
    long start = Math.max(0, record.time() - size + advance) / advance * advance;
    for (; start <= record.time(); start += advance) {
      if (start + size > closeTime) {
        fold(slot, record, key, entries, start);
      } else {
        task.drop(Dropped.LATE);
      }
    }
    emitClosed(record, closeTime, closeTime - size);
  }

  @Override
  protected long forgottenUpTo() {
    return unlimited || storeTime[0] == Long.MIN_VALUE ? Long.MIN_VALUE : storeTime[0] - retention;
  }

  @Override
  protected long endOf(long start) {
    return unlimited ? Long.MAX_VALUE : start + size;
  }
}
