package io.tidemill.node;

import io.tidemill.row.Bytes;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Store;
import io.tidemill.state.TimedCoder;
import io.tidemill.task.Task;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.DataType;

/** A table that may keep its rows in a store of its own; one that does not computes them when it is asked. */
abstract class StoredTable extends TableNode {
  private final DataType valueType;
  private final String store;
  private transient Store<Timed> rows;
  /** Updates that are held back of rows deleted in this batch. */
  private transient Map<Bytes, Held> deleted;

  /** @param store null for a table that keeps nothing */
  protected StoredTable(String name, DataType keyType, DataType valueType, String store, boolean cached) {
    super(name, keyType, cached && store != null);
    this.valueType = valueType;
    this.store = store;
  }

  @Override
  public final List<String> stores() {
    return store == null ? List.of() : List.of(store);
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    rows = store == null ? null : task.store(store, new TimedCoder(valueType));
  }

  @Override
  public final Timed lookup(Object key) {
    return rows == null ? computed(key) : rows.get(keyBytes(key));
  }

  protected final boolean keepsRows() {
    return rows != null;
  }

  /** The row of a key, where there is no store. */
  protected abstract Timed computed(Object key);

  /** Keeps a new row and hands the change on; without a store the change goes on as it is. */
  protected final void hand(Rec change) {
    if (rows == null) {
      forward(change);
      return;
    }
    Bytes key = keyBytes(change.key());
    Timed before = rows.get(key);
    Timed now = change.value() == null ? null : new Timed(change.value(), change.time());
    rows.put(key, now);
    if (!isCached()) {
      update(change.change(change.value(), Timed.valueOf(before)));
      return;
    }
    // What is held back is found by the row itself, which spares a second look-up for each record.
    Held held = before != null ? (Held) before.note : deleted == null ? null : deleted.remove(key);
    if (!isHeld(held)) {
      held = begin(change.key(), Timed.valueOf(before));
    }
    hold(held, change, change.value(), change.time());
    if (now != null) {
      now.note = held;
    } else {
      if (deleted == null) {
        deleted = new HashMap<>();
      }
      deleted.put(key, held);
    }
  }

  @Override
  public void flush() {
    super.flush();
    deleted = null;
  }

  @Override
  public final void save() {
    if (rows != null) {
      rows.save();
    }
  }
}
