package io.tidemill.problem;

import io.tidemill.row.Evaluator;
import io.tidemill.spark.Stateful;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * What an expression gives for two arguments, or what it threw: a struct (result, error, message, trace).
 *
 * The expression is run by itself, not as part of the query's generated code: Spark would move parts of it that others
 * have in common out of reach.
 */
public final class Tried extends Expression implements CodegenFallback, java.io.Serializable {
  private final List<Expression> arguments;
  private final Evaluator evaluator;

  private Tried(List<Expression> arguments, Evaluator evaluator) {
    this.arguments = arguments;
    this.evaluator = evaluator;
  }

  public static Column of(Evaluator evaluator, Column first, Column second) {
    List<Expression> arguments = List.of(ExpressionUtils.expression(first), ExpressionUtils.expression(second));
    return ExpressionUtils.column(new Tried(arguments, evaluator));
  }

  @Override
  public Object eval(InternalRow input) {
    try {
      Object result = evaluator.eval(arguments.get(0).eval(input), arguments.get(1).eval(input));
      return new GenericInternalRow(new Object[] {result, null, null, null});
    } catch (RuntimeException e) {
      return new GenericInternalRow(
          new Object[] {null, text(e.getClass().getName()), text(Letters.messageOf(e)), text(Letters.trace(e))});
    }
  }

  private static UTF8String text(String text) {
    return UTF8String.fromString(text);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode code) {
    return CodegenFallback.super.doGenCode(context, code);
  }

  @Override
  public DataType dataType() {
    return new StructType().add("result", evaluator.type()).add("error", DataTypes.StringType)
        .add("message", DataTypes.StringType).add("trace", DataTypes.StringType);
  }

  @Override
  public boolean nullable() {
    return false;
  }

  @Override
  public Seq<Expression> children() {
    return Stateful.seq(arguments);
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    return new Tried(List.copyOf(Stateful.list(children)), evaluator);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof Tried;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Tried that && that.arguments.equals(arguments) && that.evaluator == evaluator;
  }

  @Override
  public int hashCode() {
    return arguments.hashCode();
  }

  @Override
  public int productArity() {
    return arguments.size();
  }

  @Override
  public Object productElement(int index) {
    return arguments.get(index);
  }
}
