package io.tidemill.plan;

import io.tidemill.spark.Stateful;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** A {@link Standin} in a physical plan, which is only looked at and never run. */
public final class StandinExec extends SparkPlan {
  private final Seq<Attribute> output;

  public StandinExec(Seq<Attribute> output) {
    this.output = output;
  }

  @Override
  public RDD<InternalRow> doExecute() {
    throw new IllegalStateException("a stand-in has no rows");
  }

  @Override
  public Seq<Attribute> output() {
    return output;
  }

  @Override
  public Seq<SparkPlan> children() {
    return Stateful.seq(List.of());
  }

  @Override
  public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
    return this;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof StandinExec;
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
