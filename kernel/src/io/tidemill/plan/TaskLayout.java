package io.tidemill.plan;

import io.tidemill.spark.Stateful;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * Rows in the partitions of their tasks, without the sort (and, where possible, the shuffle) Spark would put there.
 *
 * Spark sorts by the grouping key in front of a stateful operator. Each of our partitions holds one task, so there is
 * nothing to sort. And the records of one Kafka partition already are in one place.
 */
public final class TaskLayout extends LogicalPlan {
  private final Layout layout;
  private final LogicalPlan child;

  public TaskLayout(Layout layout, LogicalPlan child) {
    this.layout = layout;
    this.child = child;
  }

  /** @param input rows whose first column is the number of their task */
  public static Dataset<Row> apply(Dataset<Row> input, int tasks, boolean direct, boolean carried) {
    var dataset = (org.apache.spark.sql.classic.Dataset<Row>) input;
    TaskStrategy.register(dataset.sparkSession());
    LogicalPlan plan = new TaskLayout(new Layout(tasks, direct, carried), dataset.queryExecution().analyzed());
    return org.apache.spark.sql.classic.Dataset$.MODULE$.ofRows(dataset.sparkSession(), plan);
  }

  Layout layout() {
    return layout;
  }

  LogicalPlan child() {
    return child;
  }

  @Override
  public Seq<Attribute> output() {
    return child.output();
  }

  @Override
  public Seq<LogicalPlan> children() {
    return Stateful.seq(List.of(child));
  }

  @Override
  public LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> children) {
    return new TaskLayout(layout, Stateful.list(children).get(0));
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof TaskLayout;
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int index) {
    return index == 0 ? layout : child;
  }
}
