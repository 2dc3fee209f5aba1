package io.tidemill.node;

import io.tidemill.row.Bytes;
import io.tidemill.row.Codec;
import io.tidemill.row.Evaluator;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.TimeBuffer;
import io.tidemill.task.Dropped;
import io.tidemill.task.Task;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.spark.sql.types.DataType;

/**
 * Looks up the table's row for each stream record; only the stream's records make results.
 *
 * With a key selector it serves global tables too. With grace, records wait in time order so that the versioned table
 * has caught up with them.
 */
public final class StreamTableJoin extends Node {
  private final int table;
  private final Evaluator keySelector;
  private final Evaluator joiner;
  private final boolean left;
  private final long grace;
  private final String buffer;
  private final DataType keyType;
  private final DataType valueType;
  private final DataType headersType;
  private transient TimeBuffer waiting;
  private transient Codec codec;
  private transient long[] streamTime;
  private transient long[] arrivals;

  /**
   * @param keySelector of the record, null to use its key
   * @param joiner of (key, stream value, table value)
   * @param buffer null for no grace
   */
  public StreamTableJoin(String name, int table, Evaluator keySelector, Evaluator joiner, boolean left, long grace,
      String buffer, DataType keyType, DataType valueType, DataType headersType) {
    super(name);
    this.table = table;
    this.keySelector = keySelector;
    this.joiner = joiner;
    this.left = left;
    this.grace = grace;
    this.buffer = buffer;
    this.keyType = keyType;
    this.valueType = valueType;
    this.headersType = headersType;
  }

  @Override
  public List<String> stores() {
    return buffer == null ? List.of() : List.of(buffer);
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    if (buffer != null) {
      waiting = task.timeBuffer(buffer, grace / 16);
      codec = new Codec(keyType, valueType, headersType);
      streamTime = task.clock(name);
      arrivals = task.clock(name + "/arrivals");
    }
  }

  @Override
  public void process(int slot, Rec record) {
    Object key = keySelector == null ? record.key() : task.eval(keySelector, record, record.value());
    if (record.value() == null || (key == null && !left)) {
      task.drop(key == null ? Dropped.NULL_KEY : Dropped.NULL_VALUE);
      return;
    }
    if (buffer == null) {
      join(record, key);
      return;
    }
    streamTime[0] = Math.max(streamTime[0], record.time());
    if (record.time() < streamTime[0] - grace) {
      join(record, key);
    } else {
      arrivals[0] = Math.max(0, arrivals[0] + 1);
      Bytes tie = new Bytes(ByteBuffer.allocate(Long.BYTES).putLong(arrivals[0]).array());
      waiting.put(record.time(), tie, codec.encode(record.key(), record.value(), record.headers()));
    }
    for (var entry = waiting.first(); entry != null && entry.time() <= streamTime[0] - grace; entry = waiting.first()) {
      waiting.remove(entry.time(), entry.tie());
      Object[] fields = codec.decode(entry.payload());
      join(new Rec(fields[0], fields[1], entry.time(), fields[2]), fields[0]);
    }
  }

  private void join(Rec record, Object key) {
    Timed row = key == null ? null : lookup(key, record.time());
    if (left || row != null) {
      forward(record.withValue(joiner.eval(record.key(), record.value(), Timed.valueOf(row))));
    }
  }

  private Timed lookup(Object key, long time) {
    Node node = task.node(table);
    return node instanceof VersionedTable versioned ? versioned.lookup(key, time) : ((TableNode) node).lookup(key);
  }

  @Override
  public void save() {
    if (waiting != null) {
      waiting.save();
    }
  }
}
