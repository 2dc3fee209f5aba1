package io.tidemill.row;

import io.tidemill.spark.Stateful;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.MutableProjection;
import org.apache.spark.sql.catalyst.expressions.MutableProjection$;
import org.apache.spark.sql.types.DataType;

/** A user's Column, bound to positions and run by code that Spark generates for it. */
public final class Evaluator implements Serializable {
  private final Expression expression;
  private final int width;
  /** The one field that is the result as it is, or -1: no code needs to run for it. */
  private final int plain;
  /** A bit for each field the expression reads. */
  private final long read;
  private transient MutableProjection projection;
  private transient GenericInternalRow input;
  private transient GenericInternalRow output;

  /** @param width how many fields {@link #eval} is given */
  public Evaluator(Expression expression, int width) {
    this.expression = expression;
    this.width = width;
    this.plain = expression instanceof BoundReference field ? field.ordinal() : -1;
    this.read = fieldsOf(expression);
  }

  /** Whether the result depends on this field; what is costly to make can be left out if not. */
  public boolean reads(int field) {
    return (read >> field & 1) != 0;
  }

  public DataType type() {
    return expression.dataType();
  }

  public Object eval(Object... fields) {
    if (plain >= 0) {
      return fields[plain];
    }
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

  private static long fieldsOf(Expression expression) {
    long fields = expression instanceof BoundReference field ? 1L << field.ordinal() : 0;
    for (Expression child : Stateful.list(expression.children())) {
      fields |= fieldsOf(child);
    }
    return fields;
  }
}
