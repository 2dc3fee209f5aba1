package io.tidemill.node;

import io.tidemill.row.Bytes;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Store;
import io.tidemill.state.TimedCoder;
import io.tidemill.task.Task;
import java.util.List;
import org.apache.spark.sql.types.DataType;

/** A table that may keep its rows in a store of its own; one that does not computes them when it is asked. */
abstract class StoredTable extends TableNode {
  private final DataType valueType;
  private final String store;
  private transient Store<Timed> rows;

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
    Object stored = Timed.valueOf(rows.get(key));
    rows.put(key, change.value() == null ? null : new Timed(change.value(), change.time()));
    update(key, change.change(change.value(), stored));
  }

  @Override
  public final void save() {
    if (rows != null) {
      rows.save();
    }
  }
}
