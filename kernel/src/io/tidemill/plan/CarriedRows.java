package io.tidemill.plan;

import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** The rows of each partition as one {@link Carrier}. */
final class CarriedRows extends RDD<InternalRow> {
  private final int width;

  CarriedRows(RDD<InternalRow> rows, int width) {
    super(rows, ClassTag$.MODULE$.apply(InternalRow.class));
    this.width = width;
  }

  @Override
  public Iterator<InternalRow> compute(Partition partition, TaskContext context) {
    RDD<InternalRow> rows = firstParent(ClassTag$.MODULE$.apply(InternalRow.class));
    return CollectionConverters.asScala(
        Carrier.of(CollectionConverters.asJava(rows.iterator(partition, context)), width));
  }

  @Override
  public Partition[] getPartitions() {
    return firstParent(ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class)).partitions();
  }
}
