package io.tidemill.plan;

import io.tidemill.spark.Stateful;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** Stands for whatever gives rows of these columns, where a plan is made for the steps behind it alone. */
public final class Standin extends LogicalPlan {
  private final Seq<Attribute> output;

  public Standin(Seq<Attribute> output) {
    this.output = output;
  }

  @Override
  public Seq<Attribute> output() {
    return output;
  }

  @Override
  public Seq<LogicalPlan> children() {
    return Stateful.seq(List.of());
  }

  @Override
  public LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> children) {
    return this;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof Standin;
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int index) {
    return output;
  }
}
