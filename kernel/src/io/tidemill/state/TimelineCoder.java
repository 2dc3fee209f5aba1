package io.tidemill.state;

import io.tidemill.row.Codec;
import io.tidemill.row.Timed;
import java.util.TreeMap;
import org.apache.spark.sql.types.DataType;

/** All entries of one key in time order: windows by start, versions or buffered records by timestamp. */
public final class TimelineCoder implements Coder<TreeMap<Long, Timed>> {
  private final Codec codec;

  public TimelineCoder(DataType valueType) {
    this.codec = new Codec(valueType);
  }

  @Override
  public byte[] encode(TreeMap<Long, Timed> timeline) {
    return Blob.write(out -> {
      out.writeInt(timeline.size());
      for (var entry : timeline.entrySet()) {
        out.writeLong(entry.getKey());
        out.writeLong(entry.getValue().time());
        Blob.writeBytes(out, codec.encode(entry.getValue().value()));
      }
    });
  }

  @Override
  public TreeMap<Long, Timed> decode(byte[] bytes) {
    return Blob.read(bytes, in -> {
      TreeMap<Long, Timed> timeline = new TreeMap<>();
      for (int left = in.readInt(); left > 0; left--) {
        long at = in.readLong();
        long time = in.readLong();
        timeline.put(at, new Timed(codec.decode(Blob.readBytes(in))[0], time));
      }
      return timeline;
    });
  }
}
