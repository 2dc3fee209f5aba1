package io.tidemill.node;

import io.tidemill.fold.Folder;
import io.tidemill.row.Bytes;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Store;
import io.tidemill.state.TimedCoder;
import io.tidemill.task.Task;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;

/**
 * Aggregates the rows of a table under another key: an old row is subtracted, a new one added, in this order.
 *
 * Its input values are the structs (add, remove) that {@link Regroup} made; either part may be missing.
 */
public final class TableAggregate extends TableNode {
  private final DataType valueType;
  private final Folder folder;
  private final String store;
  private transient Store<Timed> rows;

  public TableAggregate(String name, DataType keyType, DataType valueType, Folder folder, String store, boolean cached) {
    super(name, keyType, cached);
    this.valueType = valueType;
    this.folder = folder;
    this.store = store;
  }

  @Override
  public List<String> stores() {
    return List.of(store);
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    rows = task.store(store, new TimedCoder(folder.stateType()));
  }

  @Override
  public void process(int slot, Rec record) {
    InternalRow parts = (InternalRow) record.value();
    Object added = parts.isNullAt(0) ? null : parts.get(0, valueType);
    Object removed = parts.isNullAt(1) ? null : parts.get(1, valueType);
    Bytes key = keyBytes(record.key());
    Timed row = rows.get(key);
    Object aggregate = Timed.valueOf(row);
    long time = record.time();
    if (removed != null && aggregate != null) {
      aggregate = folder.subtract(record.key(), removed, aggregate);
      time = Math.max(time, row.time());
    }
    if (added != null) {
      boolean fresh = aggregate == null;
      aggregate = folder.add(record.key(), added, fresh ? folder.init() : aggregate);
      time = row == null ? time : Math.max(time, row.time());
    }
    rows.put(key, aggregate == null ? null : new Timed(aggregate, time));
    update(key, record.change(aggregate, Timed.valueOf(row), time));
  }

  @Override
  protected Object told(Object aggregate) {
    return folder.result(aggregate);
  }

  @Override
  public Timed lookup(Object key) {
    Timed row = rows.get(keyBytes(key));
    return row == null ? null : new Timed(folder.result(row.value()), row.time());
  }

  @Override
  public void save() {
    rows.save();
  }
}
