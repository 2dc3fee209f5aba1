package io.tidemill.spark;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** One field of the row object a processor returned: the way back from {@link WholeRow}. */
public final class RowField extends Expression implements CodegenFallback, java.io.Serializable {
  private final int ordinal;
  private final DataType type;

  public RowField(int ordinal, DataType type) {
    this.ordinal = ordinal;
    this.type = type;
  }

  @Override
  public Object eval(InternalRow input) {
    InternalRow row = (InternalRow) input.get(0, null);
    return row.isNullAt(ordinal) ? null : row.get(ordinal, type);
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
    return true;
  }

  @Override
  public DataType dataType() {
    return type;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof RowField;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RowField that && that.ordinal == ordinal && that.type.equals(type);
  }

  @Override
  public int hashCode() {
    return 31 * ordinal + type.hashCode();
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int index) {
    return index == 0 ? (Object) ordinal : type;
  }
}
