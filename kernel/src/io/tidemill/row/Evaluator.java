package io.tidemill.row;

import io.tidemill.spark.Stateful;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.MutableProjection;
import org.apache.spark.sql.catalyst.expressions.MutableProjection$;
import org.apache.spark.sql.types.DataType;

/** A user's Column, bound to positions and run by code that Spark generates for it. */
public final class Evaluator implements Serializable {
  private final Expression expression;
  private final int width;
  private transient MutableProjection projection;
  private transient GenericInternalRow input;
  private transient GenericInternalRow output;

  /** @param width how many fields {@link #eval} is given */
  public Evaluator(Expression expression, int width) {
    this.expression = expression;
    this.width = width;
  }

  public DataType type() {
    return expression.dataType();
  }

  public Object eval(Object... fields) {
    if (projection == null) {
      output = new GenericInternalRow(1);
      projection = MutableProjection$.MODULE$.create(Stateful.seq(List.of(expression))).target(output);
      projection.initialize(0);
      input = new GenericInternalRow(width);
    }
    for (int i = 0; i < fields.length; i++) {
      input.update(i, fields[i]);
    }
    projection.apply(input);
    return output.isNullAt(0) ? null : output.get(0, expression.dataType());
  }

  public boolean test(Object... fields) {
    return Boolean.TRUE.equals(eval(fields));
  }
}
