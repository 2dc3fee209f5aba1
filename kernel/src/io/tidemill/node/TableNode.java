package io.tidemill.node;

import io.tidemill.problem.Origin;
import io.tidemill.row.Bytes;
import io.tidemill.row.Codec;
import io.tidemill.row.Rec;
import io.tidemill.row.Timed;
import io.tidemill.state.Backend;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.spark.sql.types.DataType;

/** A node whose result is a table: it can be asked for the row of a key, and may hold updates back for a batch. */
public abstract class TableNode extends Node {
  protected final DataType keyType;
  private final boolean cached;
  private transient Codec keyCodec;
  private transient Map<Object, Held> heldByKey;
  private transient Held oldest;
  private transient Held newest;
  private transient int batch;

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
    if (heldByKey == null) {
      heldByKey = new HashMap<>();
    }
    Held earlier = heldByKey.get(key);
    Held held = isHeld(earlier) ? earlier : begin(change.key(), change.old());
    hold(held, change, change.value(), change.time());
    if (held != earlier) {
      heldByKey.put(key, held);
    }
  }

  /** Whether this update still waits for the end of the batch. */
  protected final boolean isHeld(Held held) {
    return held != null && held.batch == batch;
  }

  /** A first update of a key in this batch, to be filled by {@link #hold}; `old` is what was told before. */
  protected final Held begin(Object key, Object old) {
    return new Held(key, old, batch);
  }

  /** Holds a new value back in place of the one before; updates leave in the order of their last values. */
  protected final void hold(Held held, Rec cause, Object value, long time) {
    held.value = value;
    held.time = time;
    held.headers = cause.headers();
    held.latest = cause.latest();
    held.origin = task.origin();
    if (held == newest) {
      return;
    }
    if (held.after != null) {
      unlink(held);
    }
    held.before = newest;
    if (newest == null) {
      oldest = held;
    } else {
      newest.after = held;
    }
    newest = held;
  }

  private void unlink(Held held) {
    if (held.before == null) {
      oldest = held.after;
    } else {
      held.before.after = held.after;
    }
    held.after.before = held.before;
    held.after = null;
  }

  @Override
  public void flush() {
    Held leaving = oldest;
    batch++;
    oldest = null;
    newest = null;
    heldByKey = null;
    for (; leaving != null; leaving = leaving.after) {
      Held row = leaving;
      if (row.value != null || row.old != null) { // nobody has heard of a row that came and went
        task.later(row.origin, this, () ->
            forward(new Rec(row.key, tell(row.value), tell(row.old), row.time, row.headers, row.latest)));
      }
    }
  }

  private Object tell(Object kept) {
    return kept == null ? null : told(kept);
  }

  /** The update of one key that waits for the end of the batch, between those before and after it. */
  protected static final class Held {
    private final Object key;
    private final Object old;
    private final int batch;
    private Object value;
    private long time;
    private Object headers;
    private boolean latest;
    private Origin origin;
    private Held before;
    private Held after;

    private Held(Object key, Object old, int batch) {
      this.key = key;
      this.old = old;
      this.batch = batch;
    }
  }
}
