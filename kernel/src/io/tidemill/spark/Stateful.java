package io.tidemill.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.UnresolvedDeserializer;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SerializeFromObject;
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Puts a stateful processor of binary rows behind a DataFrame, grouped by one integer column. */
public final class Stateful {
  private Stateful() {}

  /**
   * @param groupColumn an integer column; all rows of one value go to the processor together, in shuffle order
   * @param processor receives and returns {@link InternalRow}s
   * @param output the fields of the returned rows
   */
  @SuppressWarnings("unchecked")
  public static Dataset<Row> transform(
      Dataset<Row> input, String groupColumn, StatefulProcessor<Integer, InternalRow, InternalRow> processor, StructType output) {
    var dataset = (org.apache.spark.sql.classic.Dataset<Row>) input;
    LogicalPlan child = dataset.queryExecution().analyzed();
    Seq<Attribute> data = child.output();
    Attribute group = attribute(child, groupColumn);
    Seq<Attribute> groups = seq(List.of(group));
    ExpressionEncoder<Object> keyEncoder = encoder((Encoder<Object>) (Encoder<?>) Encoders.INT());
    Attribute object = objectAttribute();
    var node = new TransformWithState(
        new UnresolvedDeserializer(keyEncoder.deserializer(), groups),
        new WholeRow(),
        groups,
        data,
        (StatefulProcessor<Object, Object, Object>) (StatefulProcessor<?, ?, ?>) processor,
        TimeMode.None(),
        OutputMode.Update(),
        keyEncoder,
        object,
        child,
        false,
        groups,
        data,
        new UnresolvedDeserializer(keyEncoder.deserializer(), groups),
        emptyRelation(keyEncoder.schema()));
    LogicalPlan plan = new SerializeFromObject(fields(output), node);
    return org.apache.spark.sql.classic.Dataset$.MODULE$.ofRows(dataset.sparkSession(), plan);
  }

  public static <T> Seq<T> seq(List<T> items) {
    return scala.collection.immutable.List$.MODULE$.from(CollectionConverters.asScala(items));
  }

  public static <T> List<T> list(scala.collection.Seq<T> items) {
    return CollectionConverters.asJava(items);
  }

  /** New columns of these names and types. */
  public static Seq<Attribute> attributes(StructType schema) {
    List<Attribute> attributes = new ArrayList<>();
    for (StructField field : schema.fields()) {
      attributes.add(new AttributeReference(
          field.name(), field.dataType(), field.nullable(), field.metadata(), NamedExpression$.MODULE$.newExprId(), seq(List.<String>of())));
    }
    return seq(attributes);
  }

  @SuppressWarnings("unchecked")
  private static <T> ExpressionEncoder<T> encoder(Encoder<T> encoder) {
    return (ExpressionEncoder<T>) org.apache.spark.sql.catalyst.encoders.package$.MODULE$.encoderFor(encoder);
  }

  private static Attribute attribute(LogicalPlan plan, String name) {
    return list(plan.output()).stream().filter(a -> a.name().equals(name)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no column " + name + " in " + plan.output()));
  }

  private static Attribute objectAttribute() {
    return new AttributeReference(
        "row", new ObjectType(InternalRow.class), false, Metadata.empty(), NamedExpression$.MODULE$.newExprId(), seq(List.<String>of()));
  }

  private static LocalRelation emptyRelation(StructType schema) {
    return LocalRelation$.MODULE$.apply(attributes(schema));
  }

  private static Seq<NamedExpression> fields(StructType schema) {
    List<NamedExpression> fields = new ArrayList<>();
    for (int i = 0; i < schema.fields().length; i++) {
      StructField field = schema.fields()[i];
      fields.add(new Alias(
          new RowField(i, field.dataType()), field.name(), NamedExpression$.MODULE$.newExprId(), seq(List.<String>of()),
          scala.Option.<Metadata>empty(), seq(List.<String>of())));
    }
    return seq(fields);
  }
}
