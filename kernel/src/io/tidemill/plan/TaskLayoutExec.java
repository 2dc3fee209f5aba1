package io.tidemill.plan;

import io.tidemill.spark.Stateful;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.SortOrder$;
import org.apache.spark.sql.catalyst.plans.physical.Distribution;
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.catalyst.plans.physical.StatefulOpClusteredDistribution;
import org.apache.spark.sql.catalyst.plans.physical.UnspecifiedDistribution$;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** Says that rows are where the stateful operator above wants them, and takes care that it is true. */
public final class TaskLayoutExec extends SparkPlan {
  private final Layout layout;
  private final SparkPlan child;

  public TaskLayoutExec(Layout layout, SparkPlan child) {
    this.layout = layout;
    this.child = child;
  }

  @Override
  public RDD<InternalRow> doExecute() {
    RDD<InternalRow> rows = child.execute();
    RDD<InternalRow> placed = layout.direct() ? TaskRows.of(rows, layout) : rows;
    return layout.carried() ? new CarriedRows(placed, Stateful.list(output()).size()) : placed;
  }

  @Override
  public Seq<Distribution> requiredChildDistribution() {
    return Stateful.seq(List.of(
        layout.direct() ? UnspecifiedDistribution$.MODULE$ : new StatefulOpClusteredDistribution(task(), layout.tasks())));
  }

  @Override
  public Partitioning outputPartitioning() {
    return new HashPartitioning(task(), layout.tasks());
  }

  @Override
  public Seq<SortOrder> outputOrdering() {
    return Stateful.seq(List.of(
        SortOrder$.MODULE$.apply(Stateful.list(task()).get(0), Ascending$.MODULE$, Stateful.seq(List.<Expression>of()))));
  }

  private Seq<Expression> task() {
    return Stateful.seq(List.<Expression>of(Stateful.list(output()).get(0)));
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
    return new TaskLayoutExec(layout, Stateful.list(children).get(0));
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof TaskLayoutExec;
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
