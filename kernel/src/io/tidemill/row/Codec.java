package io.tidemill.row;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** Turns a fixed list of typed fields into bytes and back, in Spark's own binary row form. */
public final class Codec implements Serializable {
  private final DataType[] types;
  private final Getter[] getters;
  private transient UnsafeProjection projection;
  private transient GenericInternalRow row;

  public Codec(DataType... types) {
    this.types = types;
    this.getters = new Getter[types.length];
    for (int i = 0; i < types.length; i++) {
      getters[i] = new Getter(i, types[i]);
    }
  }

  public byte[] encode(Object... fields) {
    if (projection == null) {
      projection = UnsafeProjection$.MODULE$.create(types);
      row = new GenericInternalRow(types.length);
    }
    for (int i = 0; i < types.length; i++) {
      row.update(i, fields[i]);
    }
    // Without the copy the bytes of a row that fills its buffer exactly would be those of the next row too.
    return projection.apply(row).copy().getBytes();
  }

  /** The bytes of a single field. The commonest types are written by hand, byte for byte as Spark writes them. */
  public Bytes key(Object field) {
    if (field instanceof UTF8String text && types[0].equals(DataTypes.StringType)) {
      int length = text.numBytes();
      byte[] row = new byte[2 * Long.BYTES + (length + 7) / 8 * 8];
      Platform.putLong(row, Platform.BYTE_ARRAY_OFFSET + Long.BYTES, (2L * Long.BYTES << 32) | length);
      text.writeToMemory(row, Platform.BYTE_ARRAY_OFFSET + 2 * Long.BYTES);
      return new Bytes(row);
    }
    if (field instanceof Long number) {
      byte[] row = new byte[2 * Long.BYTES];
      Platform.putLong(row, Platform.BYTE_ARRAY_OFFSET + Long.BYTES, number);
      return new Bytes(row);
    }
    return new Bytes(encode(field));
  }

  /** The fields of encoded bytes; they stay valid as long as the bytes are not changed. */
  public Object[] decode(byte[] bytes) {
    UnsafeRow decoded = new UnsafeRow(types.length);
    decoded.pointTo(bytes, bytes.length);
    Object[] fields = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      fields[i] = getters[i].get(decoded);
    }
    return fields;
  }
}
