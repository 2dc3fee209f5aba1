package io.tidemill.state;

import io.tidemill.row.Codec;
import io.tidemill.row.Timed;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** A table's row: value and timestamp. */
public final class TimedCoder implements Coder<Timed> {
  private final Codec codec;

  public TimedCoder(DataType valueType) {
    this.codec = new Codec(valueType, DataTypes.LongType);
  }

  @Override
  public byte[] encode(Timed row) {
    return codec.encode(row.value(), row.time());
  }

  @Override
  public Timed decode(byte[] bytes) {
    Object[] fields = codec.decode(bytes);
    return new Timed(fields[0], (Long) fields[1]);
  }
}
