package io.tidemill.node;

import io.tidemill.row.Bytes;
import io.tidemill.row.Codec;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Coder;
import io.tidemill.state.Store;
import io.tidemill.task.Task;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * The result of a foreign-key join, back under the left key.
 *
 * Answers come from different tasks in any order; one that speaks of an older state of the left row is ignored.
 */
public final class ForeignKeyResult extends TableNode {
  private final DataType valueType;
  private final String store;
  private transient Store<Row> rows;
  private transient Set<Bytes> gone;

  public ForeignKeyResult(String name, DataType keyType, DataType valueType, String store, boolean cached) {
    super(name, keyType, cached);
    this.valueType = valueType;
    this.store = store;
  }

  @Override
  public List<String> stores() {
    return List.of(store);
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    rows = task.store(store, new RowCoder());
    gone = new HashSet<>();
  }

  @Override
  public void process(int slot, Rec record) {
    InternalRow answer = (InternalRow) record.value();
    long version = answer.getLong(0);
    Bytes key = keyBytes(record.key());
    Row row = rows.get(key);
    if (row != null && version < row.version) {
      return;
    }
    Object value = answer.isNullAt(1) ? null : answer.get(1, valueType);
    rows.put(key, new Row(value, record.time(), version));
    if (answer.getBoolean(2)) {
      gone.add(key);
    } else {
      gone.remove(key);
    }
    update(key, record.change(value, row == null ? null : row.value));
  }

  @Override
  public Timed lookup(Object key) {
    Row row = rows.get(keyBytes(key));
    return row == null || row.value == null ? null : new Timed(row.value, row.time);
  }

  @Override
  public void save() {
    // Older answers can only come within a batch; afterwards a deleted row needs no version to judge them by.
    gone.forEach(key -> rows.put(key, null));
    gone.clear();
    rows.save();
  }

  private record Row(Object value, long time, long version) {}

  private final class RowCoder implements Coder<Row> {
    private final Codec codec = new Codec(valueType, DataTypes.LongType, DataTypes.LongType);

    @Override
    public byte[] encode(Row row) {
      return codec.encode(row.value, row.time, row.version);
    }

    @Override
    public Row decode(byte[] bytes) {
      Object[] fields = codec.decode(bytes);
      return new Row(fields[0], (Long) fields[1], (Long) fields[2]);
    }
  }
}
