package io.tidemill.node;

import io.tidemill.problem.Origin;
import io.tidemill.row.Bytes;
import io.tidemill.row.Codec;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Backend;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.spark.sql.types.DataType;

/** A node whose result is a table: it can be asked for the row of a key, and may hold updates back for a batch. */
public abstract class TableNode extends Node {
  protected final DataType keyType;
  private final boolean cached;
  private transient Codec keyCodec;
  private transient Map<Object, Held> held;

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

  /** All rows of the table now. */
  public void each(Backend stored, BiConsumer<Object, Timed> out) {
    Codec keys = new Codec(keyType);
    for (byte[] bytes : stored.keys()) {
      Object key = keys.decode(bytes)[0];
      Timed row = lookup(key);
      if (row != null) {
        out.accept(key, row);
      }
    }
  }

  protected final Bytes keyBytes(Object key) {
    if (keyCodec == null) {
      keyCodec = new Codec(keyType);
    }
    return keyCodec.key(key);
  }

  /** What is told of a kept value; a node that keeps more than it tells overrides this. */
  protected Object told(Object kept) {
    return kept;
  }

  /** Forwards a change of kept values, now or, when cached, as part of the last one of its key in the batch. */
  protected final void update(Rec change) {
    update(cached ? keyBytes(change.key()) : null, change);
  }

  /** As {@link #update(Rec)}, for a key whose bytes, or whatever else is equal for equal keys, are at hand. */
  protected final void update(Object key, Rec change) {
    if (!cached) {
      forward(change.change(tell(change.value()), tell(change.old())));
      return;
    }
    if (held == null) {
      held = new LinkedHashMap<>(256, 0.75f, true); // by access: the order is that of the last updates
    }
    Held earlier = held.get(key);
    if (earlier == null) {
      held.put(key, new Held(change, change.old(), task.origin()));
    } else {
      earlier.last = change;
      earlier.origin = task.origin();
    }
  }

  /** The key of the update that is held back under this id, or null. */
  protected final Object heldKey(Object id) {
    Held earlier = held == null ? null : held.get(id);
    return earlier == null ? null : earlier.last.key();
  }

  @Override
  public void flush() {
    if (held == null || held.isEmpty()) {
      return;
    }
    Map<Object, Held> leaving = held;
    held = null;
    for (Held row : leaving.values()) {
      if (row.last.value() != null || row.old != null) { // nobody has heard of a row that came and went
        task.later(row.origin, this, () -> forward(row.last.change(tell(row.last.value()), tell(row.old))));
      }
    }
  }

  private Object tell(Object kept) {
    return kept == null ? null : told(kept);
  }

  private static final class Held {
    Rec last;
    Origin origin;
    final Object old;

    Held(Rec last, Object old, Origin origin) {
      this.last = last;
      this.old = old;
      this.origin = origin;
    }
  }
}
