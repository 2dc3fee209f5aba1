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
      partial = new Partial(record.key() instanceof UTF8String text ? text.clone() : record.key(), folder.init());
      partials.put(partial.key instanceof UTF8String ? partial.key : key, partial);
    }
    partial.sum = folder.add(partial.key, record.value(), partial.sum);
    partial.time = Math.max(partial.time, record.time());
    partial.headers = record.headers();
    partial.last = task.origin();
  }

  @Override
  public void flush() {
    if (partials != null) {
      Map<Object, Partial> done = partials;
      partials = null;
      done.values().forEach(partial -> task.later(partial.last, this, () -> forward(partial.record())));
    }
  }

  private static final class Partial {
    final Object key;
    Object sum;
    long time = Long.MIN_VALUE;
    Object headers;
    Origin last;

    Partial(Object key, Object sum) {
      this.key = key;
      this.sum = sum;
    }

    Rec record() {
      return new Rec(key, sum, time, headers);
    }
  }

  /** Something equal for equal keys: simple values are it themselves, all others by their bytes. */
  private Object identity(Object key) {
    boolean simple = key instanceof UTF8String || key instanceof Long || key instanceof Integer;
    return simple ? key : new Bytes(keyCodec.encode(key));
  }
}
