package io.tidemill.spark;

import java.nio.ByteBuffer;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** Numbers in the big-endian bytes of Kafka's serialisers, as functions that Spark can call by name. */
public final class Numbers {
  private Numbers() {}

  /** Makes `tidemill_decode_<type>` and `tidemill_encode_<type>` known to a session. */
  public static void register(SparkSession spark) {
    number(spark, "short", Short.BYTES, DataTypes.ShortType, ByteBuffer::getShort, (b, v) -> b.putShort((Short) v));
    number(spark, "int", Integer.BYTES, DataTypes.IntegerType, ByteBuffer::getInt, (b, v) -> b.putInt((Integer) v));
    number(spark, "long", Long.BYTES, DataTypes.LongType, ByteBuffer::getLong, (b, v) -> b.putLong((Long) v));
    number(spark, "float", Float.BYTES, DataTypes.FloatType, ByteBuffer::getFloat, (b, v) -> b.putFloat((Float) v));
    number(spark, "double", Double.BYTES, DataTypes.DoubleType, ByteBuffer::getDouble, (b, v) -> b.putDouble((Double) v));
  }

  private interface Reader extends java.io.Serializable {
    Object read(ByteBuffer bytes);
  }

  private interface Writer extends java.io.Serializable {
    void write(ByteBuffer bytes, Object value);
  }

  private static void number(SparkSession spark, String name, int width, DataType type, Reader reader, Writer writer) {
    UDF1<byte[], Object> decode = bytes -> bytes == null || bytes.length != width ? null : reader.read(ByteBuffer.wrap(bytes));
    UDF1<Object, byte[]> encode = value -> {
      if (value == null) {
        return null;
      }
      ByteBuffer bytes = ByteBuffer.allocate(width);
      writer.write(bytes, value);
      return bytes.array();
    };
    spark.udf().register("tidemill_decode_" + name, decode, type);
    spark.udf().register("tidemill_encode_" + name, encode, DataTypes.BinaryType);
  }
}
