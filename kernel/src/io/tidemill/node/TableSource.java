package io.tidemill.node;

import io.tidemill.row.Bytes;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Store;
import io.tidemill.state.TimedCoder;
import io.tidemill.task.Dropped;
import io.tidemill.task.Task;
import java.util.List;
import org.apache.spark.sql.types.DataType;

/** Reads a stream as a table: the last value of each key by arrival; a null value deletes the row. */
public final class TableSource extends TableNode {
  private final DataType valueType;
  private final String store;
  private transient Store<Timed> rows;

  /** @param store null where nobody looks the table's rows up: old values are then unknown */
  public TableSource(String name, DataType keyType, DataType valueType, String store, boolean cached) {
    super(name, keyType, cached && store != null);
    this.valueType = valueType;
    this.store = store;
  }

  @Override
  public List<String> stores() {
    return store == null ? List.of() : List.of(store);
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    rows = store == null ? null : task.store(store, new TimedCoder(valueType));
  }

  @Override
  public void process(int slot, Rec record) {
    if (record.key() == null) {
      task.drop(Dropped.NULL_KEY);
      return;
    }
    if (rows == null) {
      forward(record.change(record.value(), null));
      return;
    }
    Bytes key = keyBytes(record.key());
    Object old = Timed.valueOf(rows.get(key));
    rows.put(key, record.value() == null ? null : new Timed(record.value(), record.time()));
    update(key, record.change(record.value(), old));
  }

  @Override
  public Timed lookup(Object key) {
    return rows.get(keyBytes(key));
  }

  @Override
  public void save() {
    if (rows != null) {
      rows.save();
    }
  }
}
