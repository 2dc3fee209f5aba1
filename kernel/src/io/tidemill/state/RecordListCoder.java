package io.tidemill.state;

import io.tidemill.row.Codec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.types.DataType;

/** The buffered records of one key: values by timestamp, in order of arrival where timestamps are equal. */
public final class RecordListCoder implements Coder<TreeMap<Long, List<Object>>> {
  private final Codec codec;

  public RecordListCoder(DataType valueType) {
    this.codec = new Codec(valueType);
  }

  @Override
  public byte[] encode(TreeMap<Long, List<Object>> records) {
    return Blob.write(out -> {
      out.writeInt(records.size());
      for (Map.Entry<Long, List<Object>> entry : records.entrySet()) {
        out.writeLong(entry.getKey());
        out.writeInt(entry.getValue().size());
        for (Object value : entry.getValue()) {
          Blob.writeBytes(out, codec.encode(value));
        }
      }
    });
  }

  @Override
  public TreeMap<Long, List<Object>> decode(byte[] bytes) {
    return Blob.read(bytes, in -> {
      TreeMap<Long, List<Object>> records = new TreeMap<>();
      for (int left = in.readInt(); left > 0; left--) {
        long time = in.readLong();
        List<Object> values = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
          values.add(codec.decode(Blob.readBytes(in))[0]);
        }
        records.put(time, values);
      }
      return records;
    });
  }
}
