package io.tidemill.spark;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * "Deserialises" a row into itself, so that a processor sees Spark's own binary rows.
 *
 * Spark's encoders would copy every field into Java objects first; the kernel reads the few it needs instead.
 */
public final class WholeRow extends Expression implements CodegenFallback, java.io.Serializable {
  @Override
  public Object eval(InternalRow input) {
    return input;
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode code) {
    return CodegenFallback.super.doGenCode(context, code);
  }

  @Override
  public Seq<Expression> children() {
    return Stateful.seq(List.of());
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    return this;
  }

  @Override
  public boolean nullable() {
    return false;
  }

  @Override
  public DataType dataType() {
    return new ObjectType(InternalRow.class);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof WholeRow;
  }

  @Override
  public boolean equals(Object other) {
    return canEqual(other);
  }

  @Override
  public int hashCode() {
    return WholeRow.class.hashCode();
  }

  @Override
  public int productArity() {
    return 0;
  }

  @Override
  public Object productElement(int index) {
    throw new IndexOutOfBoundsException(index);
  }
}
