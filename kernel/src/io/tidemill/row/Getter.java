package io.tidemill.row;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.InternalRow$;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import scala.Function2;

/**
 * Reads one field of a fixed type from rows.
 *
 * {@link InternalRow#get} works out the physical type anew at every call, which for a struct walks all of its fields.
 */
public final class Getter implements Serializable {
  private final DataType type;
  private final int ordinal;
  private transient Function2<SpecializedGetters, Object, Object> accessor;

  public Getter(int ordinal, DataType type) {
    this.ordinal = ordinal;
    this.type = type;
  }

  public Object get(InternalRow row) {
    if (row instanceof GenericInternalRow plain) {
      return plain.values()[ordinal];
    }
    if (accessor == null) {
      accessor = InternalRow$.MODULE$.getAccessor(type, true);
    }
    return accessor.apply(row, ordinal);
  }
}
