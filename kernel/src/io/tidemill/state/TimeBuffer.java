package io.tidemill.state;

import io.tidemill.row.Bytes;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;

/**
 * Entries of a whole task in the order of (time, tie): what waits for stream time to pass.
 *
 * Saved in buckets of time, so that a batch reads and writes only the buckets it touches.
 */
public final class TimeBuffer implements Cached {
  private static final Bytes DIRECTORY = new Bytes(new byte[0]);

  /** One waiting entry. */
  public record Entry(long time, Bytes tie, byte[] payload) {}

  private final long width;
  private final Store<TreeMap<Position, byte[]>> buckets;
  private final Store<TreeMap<Long, Integer>> directory;
  private TreeMap<Long, Integer> counts;

  public TimeBuffer(Backend backend, long width) {
    this.width = Math.max(1, width);
    this.buckets = new Store<>(backend, new BucketCoder());
    this.directory = new Store<>(backend, new DirectoryCoder());
  }

  public byte[] get(long time, Bytes tie) {
    TreeMap<Position, byte[]> bucket = buckets.get(at(Math.floorDiv(time, width)));
    return bucket == null ? null : bucket.get(new Position(time, tie));
  }

  public void put(long time, Bytes tie, byte[] payload) {
    long number = Math.floorDiv(time, width);
    TreeMap<Position, byte[]> bucket = buckets.get(at(number));
    if (bucket == null) {
      bucket = new TreeMap<>();
    }
    if (bucket.put(new Position(time, tie), payload) == null) {
      counts().merge(number, 1, Integer::sum);
      directory.put(DIRECTORY, counts);
    }
    buckets.put(at(number), bucket);
  }

  public void remove(long time, Bytes tie) {
    long number = Math.floorDiv(time, width);
    TreeMap<Position, byte[]> bucket = buckets.get(at(number));
    if (bucket == null || bucket.remove(new Position(time, tie)) == null) {
      return;
    }
    buckets.put(at(number), bucket.isEmpty() ? null : bucket);
    counts().merge(number, -1, Integer::sum);
    counts.remove(number, 0);
    directory.put(DIRECTORY, counts.isEmpty() ? null : counts);
  }

  /** The earliest entry, or null. */
  public Entry first() {
    if (counts().isEmpty()) {
      return null;
    }
    Map.Entry<Position, byte[]> first = buckets.get(at(counts.firstKey())).firstEntry();
    return new Entry(first.getKey().time, first.getKey().tie, first.getValue());
  }

  /** The entry that follows this one, or null. */
  public Entry after(Entry entry) {
    Position position = new Position(entry.time, entry.tie);
    for (long number : counts().tailMap(Math.floorDiv(entry.time, width), true).keySet()) {
      Map.Entry<Position, byte[]> next = buckets.get(at(number)).higherEntry(position);
      if (next != null) {
        return new Entry(next.getKey().time, next.getKey().tie, next.getValue());
      }
    }
    return null;
  }

  public long size() {
    return counts().values().stream().mapToLong(Integer::longValue).sum();
  }

  public void save() {
    buckets.save();
    directory.save();
  }

  @Override
  public void forget() {
    buckets.forget();
    directory.forget();
    counts = null;
  }

  private TreeMap<Long, Integer> counts() {
    if (counts == null) {
      counts = directory.get(DIRECTORY);
      counts = counts == null ? new TreeMap<>() : counts;
    }
    return counts;
  }

  private static Bytes at(long bucket) {
    return new Bytes(ByteBuffer.allocate(Long.BYTES).putLong(bucket).array());
  }

  private record Position(long time, Bytes tie) implements Comparable<Position> {
    @Override
    public int compareTo(Position that) {
      int order = Long.compare(time, that.time);
      return order != 0 ? order : tie.compareTo(that.tie);
    }
  }

  private static final class BucketCoder implements Coder<TreeMap<Position, byte[]>> {
    @Override
    public byte[] encode(TreeMap<Position, byte[]> bucket) {
      return Blob.write(out -> {
        out.writeInt(bucket.size());
        for (Map.Entry<Position, byte[]> entry : bucket.entrySet()) {
          out.writeLong(entry.getKey().time);
          Blob.writeBytes(out, entry.getKey().tie.get());
          Blob.writeBytes(out, entry.getValue());
        }
      });
    }

    @Override
    public TreeMap<Position, byte[]> decode(byte[] bytes) {
      return Blob.read(bytes, in -> {
        TreeMap<Position, byte[]> bucket = new TreeMap<>();
        for (int left = in.readInt(); left > 0; left--) {
          Position position = new Position(in.readLong(), new Bytes(Blob.readBytes(in)));
          bucket.put(position, Blob.readBytes(in));
        }
        return bucket;
      });
    }
  }

  private static final class DirectoryCoder implements Coder<TreeMap<Long, Integer>> {
    @Override
    public byte[] encode(TreeMap<Long, Integer> counts) {
      ByteBuffer buffer = ByteBuffer.allocate((Long.BYTES + Integer.BYTES) * counts.size());
      counts.forEach((number, count) -> buffer.putLong(number).putInt(count));
      return buffer.array();
    }

    @Override
    public TreeMap<Long, Integer> decode(byte[] bytes) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      TreeMap<Long, Integer> counts = new TreeMap<>();
      while (buffer.hasRemaining()) {
        counts.put(buffer.getLong(), buffer.getInt());
      }
      return counts;
    }
  }
}
