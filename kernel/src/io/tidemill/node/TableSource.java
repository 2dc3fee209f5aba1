package io.tidemill.node;

import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.task.Dropped;
import org.apache.spark.sql.types.DataType;

/** Reads a stream as a table: the last value of each key by arrival; a null value deletes the row. */
public final class TableSource extends StoredTable {
  /** @param store null where nobody looks the table's rows up: old values are then unknown */
  public TableSource(String name, DataType keyType, DataType valueType, String store, boolean cached) {
    super(name, keyType, valueType, store, cached);
  }

  @Override
  public void process(int slot, Rec record) {
    if (record.key() == null) {
      task.drop(Dropped.NULL_KEY);
      return;
    }
    hand(record.change(record.value(), null));
  }

  @Override
  protected Timed computed(Object key) {
    throw new IllegalStateException("`" + name + "` is asked for a row and keeps none");
  }
}
