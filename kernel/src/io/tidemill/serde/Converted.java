package io.tidemill.serde;

import io.tidemill.spark.Stateful;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** A converter as a Spark expression, called from generated code. */
public final class Converted extends Expression implements java.io.Serializable {
  private final Expression child;
  private final Converter converter;
  private transient Converter bound;

  public Converted(Expression child, Converter converter) {
    this.child = child;
    this.converter = converter;
  }

  /** Whether its values can be kept. */
  public boolean isFresh() {
    return converter.givesFreshValues();
  }

  @Override
  public DataType dataType() {
    return converter.dataType();
  }

  @Override
  public boolean nullable() {
    return true;
  }

  @Override
  public boolean foldable() {
    return false;
  }

  @Override
  public Object eval(InternalRow input) {
    Object value = child.eval(input);
    return value == null ? null : bound().convert(value);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode code) {
    ExprCode given = child.genCode(context);
    boolean isPrimitive = CodeGenerator.isPrimitiveType(child.dataType());
    String argument = isPrimitive
        ? CodeGenerator.boxedType(child.dataType()) + ".valueOf(" + given.value() + ")"
        : given.value().toString();
    String text = """
        Object %1$s = %2$s ? null : %3$s.convert(%4$s);
        boolean %5$s = %1$s == null;
        %6$s %7$s = %5$s ? %8$s : (%9$s) %1$s;
        """.formatted(
        context.freshName("converted"),
        given.isNull(),
        context.addReferenceObj("converter", bound(), Converter.class.getName()),
        argument,
        code.isNull(),
        CodeGenerator.javaType(dataType()),
        code.value(),
        CodeGenerator.defaultValue(dataType(), false),
        CodeGenerator.boxedType(dataType()));
    CodeBlock own = new CodeBlock(Stateful.seq(List.of(text)), Stateful.seq(List.of()));
    return code.copy(given.code().$plus(own), code.isNull(), code.value());
  }

  @Override
  public Seq<Expression> children() {
    return Stateful.seq(List.of(child));
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    return new Converted(Stateful.list(children).get(0), converter);
  }

  @Override
  public String prettyName() {
    return converter.toString();
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof Converted;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Converted that && that.child.equals(child) && that.converter.equals(converter);
  }

  @Override
  public int hashCode() {
    return 31 * child.hashCode() + converter.hashCode();
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int index) {
    return child;
  }

  private Converter bound() {
    if (bound == null) {
      bound = converter.of(child.dataType());
    }
    return bound;
  }
}
