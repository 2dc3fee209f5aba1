package io.tidemill.fold;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** How many values there were. */
public final class CountFolder extends Folder {
  @Override
  public DataType stateType() {
    return DataTypes.LongType;
  }

  @Override
  public Object init() {
    return 0L;
  }

  @Override
  public Object add(Object key, Object value, Object aggregate) {
    return (Long) aggregate + 1;
  }

  @Override
  public Object subtract(Object key, Object value, Object aggregate) {
    return (Long) aggregate - 1;
  }

  @Override
  public Object merge(Object key, Object left, Object right) {
    return (Long) left + (Long) right;
  }

  @Override
  public boolean isCombinable() {
    return true;
  }
}
