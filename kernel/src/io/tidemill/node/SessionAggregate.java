package io.tidemill.node;

import io.tidemill.fold.Folder;
import io.tidemill.row.Bytes;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.task.Dropped;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.types.DataType;

/**
 * Aggregates per key and session: records no further apart than `gap` belong together.
 *
 * A session is kept under its end; the entry's time is its start.
 */
public final class SessionAggregate extends WindowedTable {
  private final long gap;
  private final long grace;
  private final long retention;

  public SessionAggregate(String name, DataType keyType, List<Folder> folders, String store, boolean cached,
      boolean onClose, long gap, long grace, long retention) {
    super(name, keyType, folders, store, cached, onClose, retention / 8);
    this.gap = gap;
    this.grace = grace;
    this.retention = retention;
  }

  @Override
  public void process(int slot, Rec record) {
    if (record.key() == null) {
      task.drop(Dropped.NULL_KEY);
      return;
    }
    Folder folder = folders[slot];
    long time = record.time();
    long closeTime = advance(slot, time) - grace - gap;
    Bytes key = innerKeyBytes(record.key());
    TreeMap<Long, Timed> sessions = windowsOf(key);
    List<Map.Entry<Long, Timed>> found = new ArrayList<>();
    long start = time;
    long end = time;
    Object aggregate = folder.init();
    for (Map.Entry<Long, Timed> session : sessions.tailMap(time - gap, true).entrySet()) {
      if (session.getValue().time() > time + gap) {
        break;
      }
      if (storeTime[0] != Long.MIN_VALUE && session.getKey() <= storeTime[0] - retention) {
        continue; // no longer there for anybody
      }
      found.add(Map.entry(session.getKey(), session.getValue()));
      aggregate = folder.merge(record.key(), aggregate, session.getValue().value());
      start = Math.min(start, session.getValue().time());
      end = Math.max(end, session.getKey());
    }
    if (end < closeTime) {
      task.drop(Dropped.LATE);
    } else {
      fold(folder, record, key, sessions, found, start, end, aggregate);
    }
    emitClosed(record, closeTime - 1, closeTime - 1);
  }

  private void fold(Folder folder, Rec record, Bytes key, TreeMap<Long, Timed> sessions,
      List<Map.Entry<Long, Timed>> found, long start, long end, Object merged) {
    Timed same = null; // the session of exactly these bounds, which is updated and not replaced
    for (Map.Entry<Long, Timed> session : found) {
      if (session.getKey() == end && session.getValue().time() == start && start == end) {
        same = session.getValue();
        continue;
      }
      sessions.remove(session.getKey());
      hand(record, session.getValue().time(), session.getKey(), null, session.getValue());
    }
    Object aggregate = folder.add(record.key(), record.value(), merged);
    if (aggregate == null) {
      sessions.remove(end);
    } else {
      sessions.put(end, new Timed(aggregate, start));
      if (same == null) {
        created(end, key);
      }
    }
    keep(key, sessions);
    hand(record, start, end, aggregate == null ? null : new Timed(aggregate, start), same);
  }

  private void hand(Rec record, long start, long end, Timed session, Timed old) {
    if (!onClose) {
      Object key = windowed(record.key(), start, end);
      update(record.withKey(key).change(Timed.valueOf(session), Timed.valueOf(old), end));
    }
  }

  @Override
  protected long timeOf(long at, Timed entry) {
    return at;
  }

  @Override
  protected long forgottenUpTo() {
    return storeTime[0] == Long.MIN_VALUE ? Long.MIN_VALUE : storeTime[0] - retention;
  }

  @Override
  protected long startOf(long at, Timed entry) {
    return entry.time();
  }

  @Override
  protected long endOf(long at, Timed entry) {
    return at;
  }

  @Override
  protected long at(long start, long end) {
    return end;
  }
}
