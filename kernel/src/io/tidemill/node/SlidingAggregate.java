package io.tidemill.node;

import io.tidemill.fold.Folder;
import io.tidemill.row.Bytes;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.task.Dropped;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.types.DataType;

/**
 * Aggregates per key over sliding windows: for a record at t the window [t - d, t], and, once a later record is known,
 * the window [t + 1, t + 1 + d] behind it. Both bounds belong to a window.
 */
public final class SlidingAggregate extends WindowedTable {
  private final long difference;
  private final long grace;
  private final long retention;

  public SlidingAggregate(String name, DataType keyType, List<Folder> folders, String store, boolean cached,
      boolean onClose, long difference, long grace, long retention) {
    super(name, keyType, folders, store, cached, onClose, retention / 16);
    this.difference = difference;
    this.grace = grace;
    this.retention = retention;
  }

  @Override
  public void process(int slot, Rec record) {
    if (record.key() == null || record.value() == null) {
      task.drop(record.key() == null ? Dropped.NULL_KEY : Dropped.NULL_VALUE);
      return;
    }
    long closeTime = advance(slot, record.time()) - grace;
    if (record.time() + difference < closeTime) {
      task.drop(Dropped.LATE);
      return;
    }
    Visit visit = new Visit(slot, record, closeTime);
    if (record.time() < difference) {
      visit.early();
    } else {
      visit.usual();
    }
    visit.end();
    emitClosed(record, closeTime - 1, closeTime - difference - 1);
  }

  @Override
  protected long forgottenUpTo() {
    return storeTime[0] == Long.MIN_VALUE ? Long.MIN_VALUE : storeTime[0] - retention;
  }

  @Override
  protected long startOf(long at, Timed entry) {
    return at;
  }

  @Override
  protected long endOf(long at, Timed entry) {
    return at + difference;
  }

  @Override
  protected long at(long start, long end) {
    return start;
  }

  /** What one record does to the windows of its key. */
  private final class Visit {
    private final Folder folder;
    private final Rec record;
    private final long time;
    private final long closeTime;
    private final Bytes key;
    private final TreeMap<Long, Timed> entries;
    private final List<Long> emptied = new ArrayList<>(0);
    private boolean touched;
    private Long previous; // the timestamp of the record before this one
    private Timed left; // the aggregate of the window that ends before this record
    private Timed right; // the aggregate of a window that reaches beyond this record
    private boolean leftExists;
    private boolean rightExists;

    Visit(int slot, Rec record, long closeTime) {
      this.folder = folders[slot];
      this.record = record;
      this.time = record.time();
      this.closeTime = closeTime;
      this.key = innerKeyBytes(record.key());
      this.entries = windowsOf(key);
      if (storeTime[0] != Long.MIN_VALUE) {
        entries.headMap(storeTime[0] - retention, true).clear();
      }
    }

    void usual() {
      if (foldNear()) {
        return;
      }
      if (previous != null && previous + 1 + difference >= time && !entries.containsKey(previous + 1)) {
        fold(previous + 1, null);
      }
      if (!leftExists) {
        boolean reachesPrevious = previous != null && time - difference <= previous;
        fold(time - difference, reachesPrevious ? new Timed(left.value(), time) : null, !reachesPrevious, true);
      }
      makeRight();
    }

    /**
     * Folds the record into the windows around it, newest first, in place: most records do little else. Nothing behind
     * the first window that ended before this record is looked at.
     *
     * @return whether a record of this very time has made all windows already
     */
    private boolean foldNear() {
      var near = entries.subMap(Math.max(0, time - 2 * difference), true, time + 1, true).descendingMap();
      for (Map.Entry<Long, Timed> window : near.entrySet()) {
        long start = window.getKey();
        long end = start + difference;
        Timed entry = window.getValue();
        if (start == time + 1) {
          rightExists = true;
        } else if (end > time) {
          right = right == null ? entry : right;
          foldInto(window);
        } else if (end == time) {
          leftExists = true;
          foldInto(window);
          if (entry.time() >= time) {
            return true;
          }
          previous = entry.time();
        } else {
          left = entry;
          previous = entry.time();
          break;
        }
      }
      return false;
    }

    private void foldInto(Map.Entry<Long, Timed> window) {
      long start = window.getKey();
      if (isLate(start)) {
        return;
      }
      Timed entry = window.getValue();
      Object aggregate = folder.add(record.key(), record.value(), entry.value());
      Timed now = aggregate == null ? null : new Timed(aggregate, Math.max(time, entry.time()));
      touched = true;
      if (now == null) {
        emptied.add(start); // not now: the map is being walked over
      } else {
        window.setValue(now);
      }
      tell(start, now, entry);
    }

    /** To be called when the record has been to all its windows. */
    void end() {
      entries.keySet().removeAll(emptied);
      if (touched) {
        keep(key, entries);
      }
    }

    /** Windows have no negative start: records before `difference` share the window [0, difference]. */
    void early() {
      Timed combined = entries.get(0L);
      Set<Long> starts = new HashSet<>();
      for (Map.Entry<Long, Timed> window : new TreeMap<>(entries.subMap(0L, true, time + 1, true)).entrySet()) {
        long start = window.getKey();
        Timed entry = window.getValue();
        starts.add(start);
        if (start == 0) {
          previous = entry.time() < time ? (Long) entry.time() : null;
        } else if (start <= time) {
          right = entry;
          fold(start, entry);
        } else {
          rightExists = true;
        }
      }
      if (right == null && combined != null && combined.time() > time) {
        right = combined;
      }
      makeRight();
      if (previous != null && !starts.contains(previous + 1)) {
        fold(previous + 1, null);
      }
      fold(0L, combined);
    }

    private void makeRight() {
      if (!rightExists && right != null && right.time() > time) {
        put(time + 1, new Timed(right.value(), right.time()), null);
      }
    }

    private void fold(long start, Timed entry) {
      fold(start, entry, entry == null, entry == null);
    }

    /** @param fresh whether the window starts from nothing; `isNew` whether it did not exist before */
    private void fold(long start, Timed entry, boolean fresh, boolean isNew) {
      if (isLate(start)) {
        return;
      }
      Object aggregate = folder.add(record.key(), record.value(), fresh ? folder.init() : entry.value());
      long newTime = fresh ? time : Math.max(time, entry.time());
      put(start, aggregate == null ? null : new Timed(aggregate, newTime), isNew ? null : entry);
    }

    private boolean isLate(long start) {
      if (start + difference >= closeTime) {
        return false;
      }
      task.drop(Dropped.LATE);
      return true;
    }

    private void put(long start, Timed entry, Timed old) {
      touched = true;
      if (entry == null) {
        entries.remove(start);
      } else if (entries.put(start, entry) == null) {
        created(start, key);
      }
      tell(start, entry, old);
    }

    private void tell(long start, Timed entry, Timed old) {
      if (!onClose) {
        changed(key, record, start, start + difference, entry, old, entry == null ? time : entry.time());
      }
    }
  }
}
