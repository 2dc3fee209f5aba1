package io.tidemill.problem;

import io.tidemill.spark.Stateful;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** A user's expression whose failure tells the step and the record it was about. */
public final class Located extends Expression implements java.io.Serializable {
  private final List<Expression> parts;
  private final Step step;

  private Located(List<Expression> parts, Step step) {
    this.parts = parts;
    this.step = step;
  }

  /** @param place where the step was declared, null if unknown */
  public static Column of(Column result, Column topic, Column partition, Column offset, String node, String place) {
    List<Expression> parts = List.of(ExpressionUtils.expression(result), ExpressionUtils.expression(topic),
        ExpressionUtils.expression(partition), ExpressionUtils.expression(offset));
    return ExpressionUtils.column(new Located(parts, new Step(node, place)));
  }

  /** How a step is told; called from generated code. */
  public record Step(String node, String place) implements java.io.Serializable {
    public RuntimeException failure(RuntimeException error, Object topic, Object partition, Object offset) {
      if (error instanceof RecordFailure) {
        return error;
      }
      Origin origin = new Origin((UTF8String) topic, (Integer) partition, (Long) offset, null, true);
      return RecordFailure.of(RecordFailure.PROCESSING, node, place, origin, error.getClass().getName(),
          Letters.messageOf(error), error);
    }
  }

  @Override
  public DataType dataType() {
    return parts.get(0).dataType();
  }

  @Override
  public boolean nullable() {
    return parts.get(0).nullable();
  }

  @Override
  public boolean foldable() {
    return false;
  }

  @Override
  public Object eval(InternalRow input) {
    try {
      return parts.get(0).eval(input);
    } catch (RuntimeException e) {
      throw step.failure(e, parts.get(1).eval(input), parts.get(2).eval(input), parts.get(3).eval(input));
    }
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode code) {
    ExprCode result = parts.get(0).genCode(context);
    ExprCode topic = parts.get(1).genCode(context);
    ExprCode partition = parts.get(2).genCode(context);
    ExprCode offset = parts.get(3).genCode(context);
    String text = """
        boolean %1$s = true;
        %2$s %3$s = %4$s;
        try {
          %5$s
          %1$s = %6$s;
          %3$s = %7$s;
        } catch (RuntimeException %8$s) {
          %9$s
          throw %10$s.failure(%8$s, %11$s, %12$s, %13$s);
        }
        """.formatted(
        code.isNull(),
        CodeGenerator.javaType(dataType()),
        code.value(),
        CodeGenerator.defaultValue(dataType(), false),
        result.code().toString(),
        result.isNull(),
        result.value(),
        context.freshName("error"),
        topic.code().toString() + partition.code().toString() + offset.code().toString(),
        context.addReferenceObj("step", step, Step.class.getName()),
        "(Object) (" + topic.isNull() + " ? null : " + topic.value() + ")",
        "(Object) (" + partition.isNull() + " ? null : Integer.valueOf(" + partition.value() + "))",
        "(Object) (" + offset.isNull() + " ? null : Long.valueOf(" + offset.value() + "))");
    CodeBlock own = new CodeBlock(Stateful.seq(List.of(text)), Stateful.seq(List.of()));
    return code.copy(own, code.isNull(), code.value());
  }

  @Override
  public Seq<Expression> children() {
    return Stateful.seq(parts);
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    return new Located(List.copyOf(Stateful.list(children)), step);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof Located;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Located that && that.parts.equals(parts) && that.step.equals(step);
  }

  @Override
  public int hashCode() {
    return 31 * parts.hashCode() + step.hashCode();
  }

  @Override
  public int productArity() {
    return parts.size();
  }

  @Override
  public Object productElement(int index) {
    return parts.get(index);
  }
}
