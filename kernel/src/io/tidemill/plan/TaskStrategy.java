package io.tidemill.plan;

import io.tidemill.spark.Stateful;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.immutable.Seq;

/** Teaches Spark's planner the nodes of this package. */
public final class TaskStrategy extends SparkStrategy {
  /** Adds the strategy to a session that does not have it yet. */
  static void register(SparkSession session) {
    var experimental = session.experimental();
    List<SparkStrategy> strategies = new ArrayList<>(Stateful.list(experimental.extraStrategies()));
    if (strategies.stream().noneMatch(TaskStrategy.class::isInstance)) {
      strategies.add(new TaskStrategy());
      experimental.extraStrategies_$eq(Stateful.seq(strategies));
    }
  }

  @Override
  public Seq<SparkPlan> apply(LogicalPlan plan) {
    if (plan instanceof TaskLayout node) {
      return Stateful.seq(List.of(new TaskLayoutExec(node.layout(), planLater(node.child()))));
    }
    if (plan instanceof TaskMap node) {
      return Stateful.seq(List.of(new TaskMapExec(node.mapper(), node.output(), planLater(node.child()))));
    }
    if (plan instanceof Standin node) {
      return Stateful.seq(List.of(new StandinExec(node.output())));
    }
    return Stateful.seq(List.of());
  }
}
