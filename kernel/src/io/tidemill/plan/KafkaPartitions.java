package io.tidemill.plan;

import java.util.Arrays;
import org.apache.spark.Dependency;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.Partition;
import org.apache.spark.rdd.RDD;
import org.apache.spark.rdd.UnionRDD;
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDD;
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDDPartition;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import scala.jdk.javaapi.CollectionConverters;

/** Which Kafka partition each partition of an RDD was read from, found by following it back to the source. */
final class KafkaPartitions {
  private KafkaPartitions() {}

  static int[] of(RDD<?> rows) {
    Partition[] partitions = rows.partitions();
    if (partitions.length == 0) {
      return new int[0];
    }
    if (rows instanceof DataSourceRDD) {
      return Arrays.stream(partitions).mapToInt(KafkaPartitions::kafkaPartition).toArray();
    }
    var parents = CollectionConverters.asJava(rows.dependencies());
    if (rows instanceof UnionRDD<?>) {
      return parents.stream().flatMapToInt(parent -> Arrays.stream(of(parent.rdd()))).toArray();
    }
    Dependency<?> parent = parents.size() == 1 ? parents.get(0) : null;
    if (!(parent instanceof OneToOneDependency<?>)) {
      throw new IllegalStateException("records of Kafka were moved before they were read: " + rows.toDebugString());
    }
    return of(parent.rdd());
  }

  private static int kafkaPartition(Partition partition) {
    var input = (KafkaBatchInputPartition) ((DataSourceRDDPartition) partition).inputPartition().get();
    return input.offsetRange().topicPartition().partition();
  }
}
