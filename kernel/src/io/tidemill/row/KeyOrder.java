package io.tidemill.row;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** A key as bytes that sort like the key serialised by Kafka's own serialisers. */
public final class KeyOrder implements Serializable {
  private final DataType type;
  private final Codec codec;
  /** The order of the keys in windowed keys, null for other keys. */
  private final KeyOrder window;

  public KeyOrder(DataType type) {
    this.type = type;
    this.codec = new Codec(type);
    this.window = isWindowed(type) ? new KeyOrder(((StructType) type).fields()[0].dataType()) : null;
  }

  private static boolean isWindowed(DataType type) {
    return type instanceof StructType row && Arrays.equals(row.fieldNames(), new String[] {"key", "start", "end"})
        && row.fields()[1].dataType().equals(DataTypes.TimestampType)
        && row.fields()[2].dataType().equals(DataTypes.TimestampType);
  }

  public Bytes of(Object key) {
    if (key == null) {
      return new Bytes(new byte[0]);
    }
    if (type.equals(DataTypes.StringType)) {
      return new Bytes(((UTF8String) key).getBytes());
    }
    if (type.equals(DataTypes.LongType)) {
      return new Bytes(ByteBuffer.allocate(Long.BYTES).putLong((Long) key).array());
    }
    if (type.equals(DataTypes.IntegerType)) {
      return new Bytes(ByteBuffer.allocate(Integer.BYTES).putInt((Integer) key).array());
    }
    if (window != null) {
      InternalRow windowed = (InternalRow) key;
      byte[] inner = window.of(windowed.isNullAt(0) ? null : windowed.get(0, window.type)).get();
      ByteBuffer bytes = ByteBuffer.allocate(inner.length + 2 * Long.BYTES);
      return new Bytes(bytes.put(inner).putLong(windowed.getLong(1)).putLong(windowed.getLong(2)).array());
    }
    return type.equals(DataTypes.BinaryType) ? new Bytes((byte[]) key) : codec.key(key);
  }
}
