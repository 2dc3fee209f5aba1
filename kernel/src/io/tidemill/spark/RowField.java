package io.tidemill.spark;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** One field of the row object a processor returned: the way back from {@link WholeRow}. */
public final class RowField extends Expression implements java.io.Serializable {
  private final int ordinal;
  private final DataType type;
  private final Expression object;

  public RowField(int ordinal, DataType type) {
    this(ordinal, type, new BoundReference(0, new ObjectType(InternalRow.class), false));
  }

  private RowField(int ordinal, DataType type, Expression object) {
    this.ordinal = ordinal;
    this.type = type;
    this.object = object;
  }

  @Override
  public Object eval(InternalRow input) {
    InternalRow row = (InternalRow) object.eval(input);
    return row.isNullAt(ordinal) ? null : row.get(ordinal, type);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode code) {
    ExprCode row = object.genCode(context);
    String text = """
        %1$s
        boolean %2$s = %3$s.isNullAt(%4$d);
        %5$s %6$s = %2$s ? %7$s : (%8$s);
        """.formatted(
        row.code().toString(),
        code.isNull(),
        row.value(),
        ordinal,
        CodeGenerator.javaType(type),
        code.value(),
        CodeGenerator.defaultValue(type, false),
        CodeGenerator.getValue(row.value().toString(), type, Integer.toString(ordinal)));
    CodeBlock own = new CodeBlock(Stateful.seq(List.of(text)), Stateful.seq(List.of()));
    return code.copy(own, code.isNull(), code.value());
  }

  @Override
  public Seq<Expression> children() {
    return Stateful.seq(List.of(object));
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    return new RowField(ordinal, type, Stateful.list(children).get(0));
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
    return other instanceof RowField that && that.ordinal == ordinal && that.type.equals(type) && that.object.equals(object);
  }

  @Override
  public int hashCode() {
    return 31 * ordinal + type.hashCode();
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int index) {
    return index == 0 ? (Object) ordinal : index == 1 ? type : object;
  }
}
