package io.tidemill.plan;

import io.tidemill.spark.Stateful;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** A program without state over the rows of each partition: no state store is opened for it, and no row moves. */
public final class TaskMap extends LogicalPlan {
  private final RowMapper mapper;
  private final Seq<Attribute> output;
  private final LogicalPlan child;

  public TaskMap(RowMapper mapper, Seq<Attribute> output, LogicalPlan child) {
    this.mapper = mapper;
    this.output = output;
    this.child = child;
  }

  public static Dataset<Row> apply(Dataset<Row> input, RowMapper mapper, StructType output) {
    var dataset = (org.apache.spark.sql.classic.Dataset<Row>) input;
    TaskStrategy.register(dataset.sparkSession());
    LogicalPlan plan = new TaskMap(mapper, Stateful.attributes(output), dataset.queryExecution().analyzed());
    return org.apache.spark.sql.classic.Dataset$.MODULE$.ofRows(dataset.sparkSession(), plan);
  }

  RowMapper mapper() {
    return mapper;
  }

  LogicalPlan child() {
    return child;
  }

  @Override
  public Seq<Attribute> output() {
    return output;
  }

  @Override
  public AttributeSet producedAttributes() {
    return outputSet();
  }

  @Override
  public AttributeSet references() {
    // The mapper reads rows as a whole: no column of the child may be pruned.
    return child.outputSet();
  }

  @Override
  public Seq<LogicalPlan> children() {
    return Stateful.seq(List.of(child));
  }

  @Override
  public LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> children) {
    return new TaskMap(mapper, output, Stateful.list(children).get(0));
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof TaskMap;
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int index) {
    return index == 0 ? mapper : index == 1 ? output : child;
  }
}
