package io.tidemill.node;

import io.tidemill.fold.Folder;
import io.tidemill.problem.Origin;
import io.tidemill.row.Bytes;
import io.tidemill.row.Codec;
import io.tidemill.row.Rec;
import io.tidemill.task.Dropped;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Folds a batch's records of a key before they are shuffled to the aggregate of that key.
 *
 * What leaves is one partial aggregate per key and batch, with the newest timestamp. Only for aggregates that can be
 * merged in any order, and that hand on one result per batch anyway.
 */
public final class Combine extends Node {
  private final Folder folder;
  private final Codec keyCodec;
  private transient Map<Object, Partial> partials;

  public Combine(String name, DataType keyType, Folder folder) {
    super(name);
    this.folder = folder;
    this.keyCodec = new Codec(keyType);
  }

  @Override
  public void process(int slot, Rec record) {
    if (record.key() == null) {
      return;
    }
    if (record.value() == null) {
      task.drop(Dropped.NULL_VALUE);
      return;
    }
    if (partials == null) {
      partials = new LinkedHashMap<>();
    }
    Object key = identity(record.key());
    Partial partial = partials.get(key);
    if (partial == null) {
      Object own = record.key() instanceof UTF8String text ? text.clone() : record.key();
      Object first = folder.add(own, record.value(), folder.init());
      partials.put(own instanceof UTF8String ? own : key, 
          new Partial(new Rec(own, first, record.time(), record.headers()), task.origin()));
    } else {
      Rec before = partial.sum;
      Object sum = folder.add(before.key(), record.value(), before.value());
      long time = Math.max(before.time(), record.time());
      partial.sum = new Rec(before.key(), sum, time, record.headers());
      partial.last = task.origin();
    }
  }

  @Override
  public void flush() {
    if (partials != null) {
      Map<Object, Partial> done = partials;
      partials = null;
      done.values().forEach(partial -> task.later(partial.last, this, () -> forward(partial.sum)));
    }
  }

  private static final class Partial {
    Rec sum;
    Origin last;

    Partial(Rec sum, Origin last) {
      this.sum = sum;
      this.last = last;
    }
  }

  /** Something equal for equal keys: simple values are it themselves, all others by their bytes. */
  private Object identity(Object key) {
    boolean simple = key instanceof UTF8String || key instanceof Long || key instanceof Integer;
    return simple ? key : new Bytes(keyCodec.encode(key));
  }
}
