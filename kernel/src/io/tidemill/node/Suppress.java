package io.tidemill.node;

import io.tidemill.row.Bytes;
import io.tidemill.row.Codec;
import io.tidemill.row.KeyOrder;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Coder;
import io.tidemill.state.Store;
import io.tidemill.state.TimeBuffer;
import io.tidemill.task.Task;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** Holds a table's updates back: until their window is closed, or for a time after the first update of a key. */
public final class Suppress extends TableNode {
  private final DataType valueType;
  private final DataType headersType;
  private final String store;
  private final boolean untilClose;
  private final long wait;
  private final long closeSlack;
  private final long maxRecords;
  private final long maxBytes;
  private final boolean emitEarly;
  private transient TimeBuffer buffer;
  private transient Store<Long> places;
  private transient Codec codec;
  private transient KeyOrder order;
  private transient long[] streamTime;
  private transient long[] bytes;

  /**
   * @param untilClose whether a row waits for the end of its window; otherwise for `wait` after its first update
   * @param wait the grace of the window (with the gap of a session), or the time limit
   * @param closeSlack 1 where the window still takes a record at the very moment end + grace, else 0
   */
  public Suppress(String name, DataType keyType, DataType valueType, DataType headersType, String store,
      boolean untilClose, long wait, long closeSlack, long maxRecords, long maxBytes, boolean emitEarly) {
    super(name, keyType, false);
    this.valueType = valueType;
    this.headersType = headersType;
    this.store = store;
    this.untilClose = untilClose;
    this.wait = wait;
    this.closeSlack = closeSlack;
    this.maxRecords = maxRecords;
    this.maxBytes = maxBytes;
    this.emitEarly = emitEarly;
  }

  @Override
  public List<String> stores() {
    return List.of(store, store + ".places");
  }

  @Override
  public void open(Task owner) {
    super.open(owner);
    buffer = task.timeBuffer(store, wait / 16);
    places = task.store(store + ".places", new LongCoder());
    codec = new Codec(keyType, valueType, valueType, DataTypes.LongType, headersType);
    order = new KeyOrder(keyType);
    streamTime = task.clock(name);
    bytes = task.clock(name + "/bytes");
  }

  @Override
  public void process(int slot, Rec change) {
    streamTime[0] = Math.max(streamTime[0], change.time());
    hold(change);
    for (var entry = buffer.first(); entry != null && due(entry); entry = buffer.first()) {
      release(entry);
    }
    while (overCapacity()) {
      if (!emitEarly) {
        throw new IllegalStateException("`" + name + "` holds back more than it may: " + buffer.size() + " of "
            + maxRecords + " records, " + Math.max(0, bytes[0]) + " of " + maxBytes + " bytes");
      }
      release(buffer.first());
    }
  }

  /** What downstream knows of a key: the value it was last told, not the one held back. */
  @Override
  public Timed lookup(Object key) {
    Long place = places.get(keyBytes(key));
    if (place == null) {
      return null;
    }
    Object[] fields = codec.decode(buffer.get(place, order.of(key)));
    return fields[2] == null ? null : new Timed(fields[2], (Long) fields[3]);
  }

  @Override
  public void save() {
    buffer.save();
    places.save();
  }

  private void hold(Rec change) {
    Bytes key = keyBytes(change.key());
    Bytes tie = order.of(change.key());
    Long place = places.get(key);
    Object prior = change.old();
    if (place == null) {
      place = untilClose ? windowEnd(change.key()) : change.time();
      places.put(key, place);
    } else {
      byte[] earlier = buffer.get(place, tie);
      prior = codec.decode(earlier)[2];
      bytes[0] -= earlier.length;
    }
    byte[] entry = codec.encode(change.key(), change.value(), prior, change.time(), change.headers());
    buffer.put(place, tie, entry);
    bytes[0] = Math.max(0, bytes[0]) + entry.length;
  }

  private boolean due(TimeBuffer.Entry entry) {
    return entry.time() <= streamTime[0] - wait - closeSlack;
  }

  private boolean overCapacity() {
    return buffer.size() > maxRecords || (maxBytes < Long.MAX_VALUE && bytes[0] > maxBytes);
  }

  private void release(TimeBuffer.Entry entry) {
    Object[] fields = codec.decode(entry.payload());
    buffer.remove(entry.time(), entry.tie());
    places.put(keyBytes(fields[0]), null);
    bytes[0] -= entry.payload().length;
    if (fields[1] != null || !untilClose) {
      forward(new Rec(fields[0], fields[1], fields[2], (Long) fields[3], fields[4], true));
    }
  }

  private static long windowEnd(Object key) {
    return Math.floorDiv(((InternalRow) key).getLong(2), 1000L);
  }

  private static final class LongCoder implements Coder<Long> {
    @Override
    public byte[] encode(Long value) {
      return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    @Override
    public Long decode(byte[] bytes) {
      return ByteBuffer.wrap(bytes).getLong();
    }
  }
}
