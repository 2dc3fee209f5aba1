package io.tidemill.spark;

import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.DeserializeToObject;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MapPartitions;
import org.apache.spark.sql.catalyst.plans.logical.SerializeFromObject;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/** Puts a function of binary rows behind a DataFrame, partition by partition. */
public final class Mapped {
  private Mapped() {}

  /** The rows that a partition's rows become. */
  public interface Function extends Serializable {
    Iterator<InternalRow> apply(Iterator<InternalRow> rows);
  }

  public static Dataset<Row> transform(Dataset<Row> input, Function function, StructType output) {
    var dataset = (org.apache.spark.sql.classic.Dataset<Row>) input;
    LogicalPlan child = dataset.queryExecution().analyzed();
    Attribute in = Stateful.objectAttribute();
    Attribute out = Stateful.objectAttribute();
    LogicalPlan rows = new DeserializeToObject(new AllColumns(child.output()), in, child);
    LogicalPlan mapped = new MapPartitions(new Call(function), out, rows);
    LogicalPlan plan = new SerializeFromObject(Stateful.fields(output), mapped);
    return org.apache.spark.sql.classic.Dataset$.MODULE$.ofRows(dataset.sparkSession(), plan);
  }

  private static final class Call
      extends AbstractFunction1<scala.collection.Iterator<Object>, scala.collection.Iterator<Object>>
      implements Serializable {
    private final Function function;

    Call(Function function) {
      this.function = function;
    }

    @Override
    @SuppressWarnings("unchecked")
    public scala.collection.Iterator<Object> apply(scala.collection.Iterator<Object> rows) {
      Iterator<InternalRow> in = (Iterator<InternalRow>) (Iterator<?>) CollectionConverters.asJava(rows);
      return (scala.collection.Iterator<Object>) (scala.collection.Iterator<?>) CollectionConverters.asScala(function.apply(in));
    }
  }
}
