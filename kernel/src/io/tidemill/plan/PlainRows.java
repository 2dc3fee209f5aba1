package io.tidemill.plan;

import io.tidemill.serde.Converted;
import io.tidemill.spark.Stateful;
import java.util.List;
import java.util.Set;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.execution.CodegenSupport;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * The end of generated code whose rows stay in their task: each is an object of its own that holds the values as they are.
 *
 * Spark writes every row into one buffer, for a shuffle or a sort that does not come here. A task, which keeps parts of
 * rows, would have to copy it out of the buffer and find its fields again.
 */
final class PlainRows extends SparkPlan implements CodegenSupport {
  private static final String PACKAGE = "org.apache.spark.sql.catalyst.expressions.";
  private static final String OUR_OWN = "io.tidemill.";
  /** Expressions of Spark whose results are new for each row, or never change. */
  private static final Set<String> FRESH = Set.of(
      "Add", "Alias", "And", "ArrayContains", "AttributeReference", "CaseWhen", "Cast", "Coalesce", "CreateArray",
      "CreateNamedStruct", "ElementAt", "EqualNullSafe", "EqualTo", "GetArrayItem", "GetStructField", "GreaterThan",
      "GreaterThanOrEqual", "If", "In", "InSet", "IsNotNull", "IsNull", "LessThan", "LessThanOrEqual", "Literal",
      "Multiply", "Murmur3Hash", "Not", "Or", "Pmod", "Remainder", "Subtract", "UnixMillis");

  private final SparkPlan child;
  private final boolean copied;
  private CodegenSupport parent;

  /** @param copied whether values must be copied, because some may be used again for the next row */
  PlainRows(SparkPlan child, boolean copied) {
    this.child = child;
    this.copied = copied;
  }

  /** Whether the values of an expression can be kept as they are. */
  static boolean isFresh(Expression expression) {
    boolean known = expression instanceof StaticInvoke call ? call.staticObject().getName().startsWith(OUR_OWN)
        : expression instanceof Converted value ? value.isFresh()
        : isListed(expression.getClass().getName());
    return known && Stateful.list(expression.children()).stream().allMatch(PlainRows::isFresh);
  }

  private static boolean isListed(String name) {
    return name.startsWith(PACKAGE) && FRESH.contains(name.substring(PACKAGE.length()));
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
          .append("] = ").append(object(value.value().toString(), fields.get(i).dataType())).append(";\n");
    }
    return "Object[] %1$s = new Object[%2$d];\n%3$sappend(new %4$sGenericInternalRow(%1$s));\n"
        .formatted(array, values.size(), text, PACKAGE);
  }

  private String object(String value, DataType type) {
    if (CodeGenerator.isPrimitiveType(type)) {
      return CodeGenerator.boxedType(type) + ".valueOf(" + value + ")";
    }
    boolean mayChange =
        type instanceof StructType || type instanceof ArrayType || type instanceof MapType || type instanceof StringType;
    return copied && mayChange ? value + ".copy()" : value;
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
