package io.tidemill.fold;

import io.tidemill.row.Evaluator;
import org.apache.spark.sql.types.DataType;

/** An initial value, then functions of (key, value, aggregate); sessions merge by a function of (key, left, right). */
public final class ColumnFolder extends Folder {
  private final Evaluator init;
  private final Evaluator adder;
  private final Evaluator subtractor;
  private final Evaluator merger;
  private final DataType type;

  public ColumnFolder(Evaluator init, Evaluator adder, Evaluator subtractor, Evaluator merger, DataType type) {
    this.init = init;
    this.adder = adder;
    this.subtractor = subtractor;
    this.merger = merger;
    this.type = type;
  }

  @Override
  public DataType stateType() {
    return type;
  }

  @Override
  public Object init() {
    return init.eval();
  }

  @Override
  public Object add(Object key, Object value, Object aggregate) {
    return adder.eval(key, value, aggregate);
  }

  @Override
  public Object subtract(Object key, Object value, Object aggregate) {
    return subtractor.eval(key, value, aggregate);
  }

  @Override
  public Object merge(Object key, Object left, Object right) {
    return merger.eval(key, left, right);
  }
}
