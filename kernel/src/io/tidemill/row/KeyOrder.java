package io.tidemill.row;

import java.io.Serializable;
import java.nio.ByteBuffer;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/** A key as bytes that sort like the key serialised by Kafka's own serialisers. */
public final class KeyOrder implements Serializable {
  private final DataType type;
  private final Codec codec;

  public KeyOrder(DataType type) {
    this.type = type;
    this.codec = new Codec(type);
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
    return type.equals(DataTypes.BinaryType) ? new Bytes((byte[]) key) : codec.key(key);
  }
}
