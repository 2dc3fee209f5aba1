package io.tidemill.node;

import io.tidemill.row.Bytes;
import io.tidemill.row.Codec;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.types.DataType;

/** A node whose result is a table: it can be asked for the row of a key, and may hold updates back for a batch. */
public abstract class TableNode extends Node {
  protected final DataType keyType;
  private final boolean cached;
  private transient Codec keyCodec;
  private transient Map<Bytes, Rec> held;

  /** @param cached whether only the last update of a key goes out per batch */
  protected TableNode(String name, DataType keyType, boolean cached) {
    super(name);
    this.keyType = keyType;
    this.cached = cached;
  }

  /** Whether updates are held back for the batch. */
  protected final boolean isCached() {
    return cached;
  }

  /** The row of a key now, or null. */
  public abstract Timed lookup(Object key);

  protected final Bytes keyBytes(Object key) {
    if (keyCodec == null) {
      keyCodec = new Codec(keyType);
    }
    return keyCodec.key(key);
  }

  /** Forwards a change, now or, when cached, as part of the last one of its key at the end of the batch. */
  protected final void update(Rec change) {
    if (!cached) {
      forward(change);
      return;
    }
    if (held == null) {
      held = new LinkedHashMap<>();
    }
    Bytes key = keyBytes(change.key());
    Rec earlier = held.remove(key); // and in again at the end: the order is that of the last updates
    held.put(key, earlier == null ? change : change.change(change.value(), earlier.old()));
  }

  @Override
  public void flush() {
    if (held == null || held.isEmpty()) {
      return;
    }
    Map<Bytes, Rec> leaving = held;
    held = null;
    for (Rec change : leaving.values()) {
      if (change.value() != null || change.old() != null) { // nobody has heard of a row that came and went
        forward(change);
      }
    }
  }
}
