package io.tidemill.state;

import io.tidemill.row.Bytes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which keys have entries around which time, in buckets: finds what is due without reading the whole store.
 *
 * A bucket may name keys that have nothing left in it; the caller looks at the key's own entries.
 */
public final class TimeIndex implements Cached {
  private static final Bytes BUCKETS = new Bytes(new byte[] {});

  private final long width;
  private final Store<Set<Bytes>> keys;
  private final Store<List<Long>> list;
  private TreeMap<Long, Boolean> buckets;

  public TimeIndex(Backend backend, long width) {
    this.width = Math.max(1, width);
    this.keys = new Store<>(backend, new KeysCoder());
    this.list = new Store<>(backend, new ListCoder());
  }

  public void add(long time, Bytes key) {
    long bucket = Math.floorDiv(time, width);
    if (buckets().putIfAbsent(bucket, Boolean.TRUE) == null) {
      saveBuckets();
    }
    Bytes at = at(bucket);
    Set<Bytes> set = keys.get(at);
    if (set == null) {
      set = new HashSet<>();
    }
    if (set.add(key)) {
      keys.put(at, set);
    }
  }

  /** Whether a bucket begins at or before this time. */
  public boolean anyDue(long time) {
    return !buckets().isEmpty() && buckets().firstKey() * width <= time;
  }

  /** The keys of all buckets that begin at or before this time; buckets that also end by then are dropped. */
  public Set<Bytes> due(long time) {
    Set<Bytes> found = new HashSet<>();
    List<Long> over = new ArrayList<>();
    for (Long bucket : buckets().headMap(Math.floorDiv(time, width), true).keySet()) {
      Set<Bytes> set = keys.get(at(bucket));
      if (set != null) {
        found.addAll(set);
      }
      if ((bucket + 1) * width - 1 <= time) {
        over.add(bucket);
      }
    }
    for (Long bucket : over) {
      keys.put(at(bucket), null);
      buckets().remove(bucket);
    }
    if (!over.isEmpty()) {
      saveBuckets();
    }
    return found;
  }

  public void save() {
    keys.save();
    list.save();
  }

  @Override
  public void forget() {
    keys.forget();
    list.forget();
    buckets = null;
  }

  private TreeMap<Long, Boolean> buckets() {
    if (buckets == null) {
      buckets = new TreeMap<>();
      List<Long> saved = list.get(BUCKETS);
      if (saved != null) {
        saved.forEach(bucket -> buckets.put(bucket, Boolean.TRUE));
      }
    }
    return buckets;
  }

  private void saveBuckets() {
    list.put(BUCKETS, buckets.isEmpty() ? null : new ArrayList<>(buckets.keySet()));
  }

  private static Bytes at(long bucket) {
    return new Bytes(ByteBuffer.allocate(Long.BYTES).putLong(bucket).array());
  }

  private static final class KeysCoder implements Coder<Set<Bytes>> {
    @Override
    public byte[] encode(Set<Bytes> set) {
      return Blob.write(out -> {
        out.writeInt(set.size());
        for (Bytes key : set) {
          Blob.writeBytes(out, key.get());
        }
      });
    }

    @Override
    public Set<Bytes> decode(byte[] bytes) {
      return Blob.read(bytes, in -> {
        Set<Bytes> set = new HashSet<>();
        for (int left = in.readInt(); left > 0; left--) {
          set.add(new Bytes(Blob.readBytes(in)));
        }
        return set;
      });
    }
  }

  private static final class ListCoder implements Coder<List<Long>> {
    @Override
    public byte[] encode(List<Long> numbers) {
      ByteBuffer buffer = ByteBuffer.allocate(Long.BYTES * numbers.size());
      numbers.forEach(buffer::putLong);
      return buffer.array();
    }

    @Override
    public List<Long> decode(byte[] bytes) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      List<Long> numbers = new ArrayList<>();
      while (buffer.hasRemaining()) {
        numbers.add(buffer.getLong());
      }
      return numbers;
    }
  }
}
