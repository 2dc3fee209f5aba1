package io.tidemill.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** As {@link WholeRow}, where nothing else tells Spark that all columns of the row are wanted. */
public final class AllColumns extends Expression implements CodegenFallback, java.io.Serializable {
  private final Seq<Expression> columns;

  @SuppressWarnings("unchecked")
  public AllColumns(Seq<? extends Expression> columns) {
    this.columns = (Seq<Expression>) columns;
  }

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
    return columns;
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    return new AllColumns(children);
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
    return other instanceof AllColumns;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof AllColumns that && that.columns.equals(columns);
  }

  @Override
  public int hashCode() {
    return columns.hashCode();
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int index) {
    return columns;
  }
}
