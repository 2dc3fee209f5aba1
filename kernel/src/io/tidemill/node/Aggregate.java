package io.tidemill.node;

import io.tidemill.fold.Folder;
import io.tidemill.row.Bytes;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Store;
import io.tidemill.state.TimedCoder;
import io.tidemill.task.Dropped;
import io.tidemill.task.Task;
import java.util.List;
import org.apache.spark.sql.types.DataType;

/** One aggregate per key. Several inputs with a folder each share it (cogroup). */
public final class Aggregate extends TableNode {
  private final Folder[] folders;
  private final String store;
  private transient Store<Timed> rows;

  public Aggregate(String name, DataType keyType, List<Folder> folders, String store, boolean cached) {
    super(name, keyType, cached);
    this.folders = folders.toArray(new Folder[0]);
    this.store = store;
  }

  @Override
  public List<String> stores() {
    return List.of(store);
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    rows = task.store(store, new TimedCoder(folders[0].stateType()));
  }

  @Override
  public void process(int slot, Rec record) {
    if (record.key() == null || record.value() == null) {
      task.drop(record.key() == null ? Dropped.NULL_KEY : Dropped.NULL_VALUE);
      return;
    }
    Folder folder = folders[slot];
    Bytes key = keyBytes(record.key());
    Timed row = rows.get(key);
    long time = row == null ? record.time() : Math.max(record.time(), row.time());
    Object aggregate = folder.add(record.key(), record.value(), row == null ? folder.init() : row.value());
    rows.put(key, aggregate == null ? null : new Timed(aggregate, time));
    Object old = Timed.valueOf(row);
    // Kafka Streams stamps a deletion with the row's time, but with the record's own where a cache hands it on.
    update(key, record.change(aggregate, old, aggregate == null && isCached() ? record.time() : time));
  }

  @Override
  protected Object told(Object aggregate) {
    return folders[0].result(aggregate);
  }

  @Override
  public Timed lookup(Object key) {
    Timed row = rows.get(keyBytes(key));
    return row == null ? null : new Timed(folders[0].result(row.value()), row.time());
  }

  @Override
  public void save() {
    rows.save();
  }
}
