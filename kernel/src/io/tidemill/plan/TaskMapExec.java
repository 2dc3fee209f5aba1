package io.tidemill.plan;

import io.tidemill.spark.Stateful;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec;
import org.apache.spark.sql.types.DataType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** Runs a {@link RowMapper} over each partition. */
public final class TaskMapExec extends SparkPlan {
  private final RowMapper mapper;
  private final Seq<Attribute> output;
  private final SparkPlan child;

  public TaskMapExec(RowMapper mapper, Seq<Attribute> output, SparkPlan child) {
    this.mapper = mapper;
    this.output = output;
    this.child = child;
  }

  @Override
  public RDD<InternalRow> doExecute() {
    DataType[] types = Stateful.list(output).stream().map(Attribute::dataType).toArray(DataType[]::new);
    SparkPlan rows = mapper.givesBinaryRows() ? unprojected(child) : child;
    return new MappedRows(rows.execute(), mapper, types);
  }

  /**
   * The plan without the projection that Spark puts behind every source to have binary rows: it copies all of a record,
   * and generated code reads whatever rows there are.
   */
  private static SparkPlan unprojected(SparkPlan plan) {
    boolean found = plan instanceof WholeStageCodegenExec stage
        && stage.child() instanceof ProjectExec project
        && project.child() instanceof InputAdapter adapter
        && adapter.child() instanceof MicroBatchScanExec scan
        && project.projectList().equals(scan.output());
    return found ? scanOf(plan) : plan;
  }

  private static SparkPlan scanOf(SparkPlan plan) {
    return plan instanceof MicroBatchScanExec ? plan : scanOf(Stateful.list(plan.children()).get(0));
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
  public Seq<SparkPlan> children() {
    return Stateful.seq(List.of(child));
  }

  @Override
  public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
    return new TaskMapExec(mapper, output, Stateful.list(children).get(0));
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof TaskMapExec;
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
