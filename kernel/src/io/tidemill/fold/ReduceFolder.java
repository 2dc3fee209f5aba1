package io.tidemill.fold;

import io.tidemill.row.Evaluator;
import org.apache.spark.sql.types.DataType;

/** The first value, then a function of (aggregate, value). */
public final class ReduceFolder extends Folder {
  private final Evaluator adder;
  private final Evaluator subtractor;
  private final DataType type;

  public ReduceFolder(Evaluator adder, Evaluator subtractor, DataType type) {
    this.adder = adder;
    this.subtractor = subtractor;
    this.type = type;
  }

  @Override
  public DataType stateType() {
    return type;
  }

  @Override
  public Object init() {
    return null;
  }

  @Override
  public Object add(Object key, Object value, Object aggregate) {
    return aggregate == null ? value : adder.eval(aggregate, value);
  }

  @Override
  public Object subtract(Object key, Object value, Object aggregate) {
    return subtractor.eval(aggregate, value);
  }

  @Override
  public Object merge(Object key, Object left, Object right) {
    return left == null ? right : adder.eval(left, right);
  }
}
