package io.tidemill.plan;

import java.io.Serializable;

/**
 * How rows get to the Spark partition of their task.
 *
 * @param tasks how many tasks there are, which is also the number of Spark partitions: task n lives in partition n
 * @param direct whether partition p of a Kafka topic is read by task p modulo `tasks`, so that no row has to move
 * @param carried whether a task gets its rows as one {@link Carrier}
 */
public record Layout(int tasks, boolean direct, boolean carried) implements Serializable {
  int homeOf(int kafkaPartition) {
    return kafkaPartition % tasks;
  }
}
