package io.tidemill.row;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;

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

  public Bytes key(Object field) {
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
