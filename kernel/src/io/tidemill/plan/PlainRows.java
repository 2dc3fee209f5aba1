package io.tidemill.plan;

import io.tidemill.spark.Stateful;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.execution.CodegenSupport;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.types.DataType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * The end of generated code whose rows stay in their task: each is an object of its own that holds the values as they are.
 *
 * Spark writes every row into one buffer, for a shuffle or a sort that does not come here. A task, which keeps parts of
 * rows, would have to copy it out of the buffer and find its fields again.
 */
final class PlainRows extends SparkPlan implements CodegenSupport {
  private final SparkPlan child;
  private final boolean[] copied;
  private CodegenSupport parent;

  /** @param copied of each column, whether its values must be copied */
  PlainRows(SparkPlan child, boolean[] copied) {
    this.child = child;
    this.copied = copied;
  }

  @Override
  public String doProduce(CodegenContext context) {
    return ((CodegenSupport) child).produce(context, this);
  }

  @Override
  public String doConsume(CodegenContext context, Seq<ExprCode> input, ExprCode row) {
    List<ExprCode> values = Stateful.list(input);
    List<Attribute> fields = Stateful.list(output());
    String array = context.freshName("fields");
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < values.size(); i++) {
      ExprCode value = values.get(i);
      text.append(value.code()).append("if (!").append(value.isNull()).append(") ").append(array).append("[").append(i)
          .append("] = ").append(object(value.value().toString(), fields.get(i).dataType(), copied[i])).append(";\n");
    }
    return "Object[] %1$s = new Object[%2$d];\n%3$sappend(new %4$s(%1$s));\n"
        .formatted(array, values.size(), text, GenericInternalRow.class.getName());
  }

  private static String object(String value, DataType type, boolean copy) {
    if (CodeGenerator.isPrimitiveType(type)) {
      return CodeGenerator.boxedType(type) + ".valueOf(" + value + ")";
    }
    return copy ? value + ".copy()" : value;
  }

  @Override
  public AttributeSet usedInputs() {
    return child.outputSet();
  }

  @Override
  public boolean needCopyResult() {
    return false;
  }

  @Override
  public CodegenSupport parent() {
    return parent;
  }

  @Override
  public void parent_$eq(CodegenSupport caller) {
    parent = caller;
  }

  @Override
  public Seq<RDD<InternalRow>> inputRDDs() {
    return ((CodegenSupport) child).inputRDDs();
  }

  @Override
  public RDD<InternalRow> doExecute() {
    throw new IllegalStateException("rows are made by generated code only");
  }

  @Override
  public Seq<Attribute> output() {
    return child.output();
  }

  @Override
  public Seq<SparkPlan> children() {
    return Stateful.seq(List.of(child));
  }

  @Override
  public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
    return new PlainRows(Stateful.list(children).get(0), copied);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof PlainRows;
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int index) {
    return child;
  }
}
