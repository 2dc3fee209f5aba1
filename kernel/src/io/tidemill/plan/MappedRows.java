package io.tidemill.plan;

import io.tidemill.problem.FirstFailure;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.types.DataType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** Rows of another RDD, partition by partition, through a {@link RowMapper} and into Spark's binary form. */
final class MappedRows extends RDD<InternalRow> {
  private final RowMapper mapper;
  private final DataType[] types;

  MappedRows(RDD<InternalRow> rows, RowMapper mapper, DataType[] types) {
    super(rows, ClassTag$.MODULE$.apply(InternalRow.class));
    this.mapper = mapper;
    this.types = types;
  }

  @Override
  public Iterator<InternalRow> compute(Partition partition, TaskContext context) {
    FirstFailure.watch();
    RDD<InternalRow> parent = firstParent(ClassTag$.MODULE$.apply(InternalRow.class));
    java.util.Iterator<InternalRow> mapped = mapper.map(CollectionConverters.asJava(parent.iterator(partition, context)));
    if (mapper.givesBinaryRows()) {
      return CollectionConverters.asScala(mapped);
    }
    UnsafeProjection projection = UnsafeProjection$.MODULE$.create(types);
    projection.initialize(partition.index());
    return CollectionConverters.asScala(new java.util.Iterator<InternalRow>() {
      @Override
      public boolean hasNext() {
        return mapped.hasNext();
      }

      @Override
      public InternalRow next() {
        return projection.apply(mapped.next());
      }
    });
  }

  @Override
  public Partition[] getPartitions() {
    return firstParent(ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class)).partitions();
  }
}
