package io.tidemill.plan;

import io.tidemill.spark.Stateful;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.NarrowDependency;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** The rows of Kafka partitions, in as many partitions as there are tasks; a task's records come oldest first. */
final class TaskRows extends RDD<InternalRow> {
  private final RDD<InternalRow> rows;
  private final Home[] homes;

  private TaskRows(RDD<InternalRow> rows, Home[] homes) {
    super(rows.sparkContext(), Stateful.seq(List.of()), ClassTag$.MODULE$.apply(InternalRow.class));
    this.rows = rows;
    this.homes = homes;
  }

  static TaskRows of(RDD<InternalRow> rows, Layout layout) {
    List<List<Partition>> read = new ArrayList<>();
    for (int i = 0; i < layout.tasks(); i++) {
      read.add(new ArrayList<>());
    }
    int[] kafka = KafkaPartitions.of(rows);
    Partition[] partitions = rows.partitions();
    for (int i = 0; i < partitions.length; i++) {
      read.get(layout.homeOf(kafka[i])).add(partitions[i]);
    }
    Home[] homes = new Home[layout.tasks()];
    for (int i = 0; i < homes.length; i++) {
      homes[i] = new Home(i, read.get(i).toArray(new Partition[0]));
    }
    return new TaskRows(rows, homes);
  }

  @Override
  public Iterator<InternalRow> compute(Partition partition, TaskContext context) {
    Home home = (Home) partition;
    List<java.util.Iterator<InternalRow>> queues = new ArrayList<>();
    for (Partition read : home.read) {
      queues.add(CollectionConverters.asJava(
          firstParent(ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class)).iterator(read, context)));
    }
    return CollectionConverters.asScala(queues.size() == 1 ? queues.get(0) : new OldestFirst(queues));
  }

  @Override
  public Partition[] getPartitions() {
    return homes;
  }

  @Override
  public Seq<Dependency<?>> getDependencies() {
    return Stateful.seq(List.of(new FromKafka(rows, homes)));
  }

  /** One task's partition, and those it reads. */
  private record Home(int index, Partition[] read) implements Partition {
    @Override
    public boolean equals(Object other) {
      return other instanceof Home that && that.index == index;
    }

    @Override
    public int hashCode() {
      return index;
    }
  }

  private static final class FromKafka extends NarrowDependency<InternalRow> {
    private final Home[] homes;

    FromKafka(RDD<InternalRow> rows, Home[] homes) {
      super(rows);
      this.homes = homes;
    }

    @Override
    public Seq<Object> getParents(int index) {
      List<Object> parents = new ArrayList<>();
      for (Partition read : homes[index].read) {
        parents.add(read.index());
      }
      return Stateful.seq(parents);
    }
  }
}
