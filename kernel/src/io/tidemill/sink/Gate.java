package io.tidemill.sink;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Holds the next batch of a query before its first task starts, so that a query can be stopped between two batches.
 *
 * Spark's own stop interrupts whatever runs. A batch that is held has its offsets written down and nothing else done;
 * the next run of the query simply does it.
 */
public final class Gate {
  private static final Map<String, Gate> GATES = new ConcurrentHashMap<>();

  private volatile boolean closed;
  private boolean held;

  private Gate() {}

  /** The gate of this name in the driver's JVM. */
  public static Gate of(String name) {
    return GATES.computeIfAbsent(name, ignored -> new Gate());
  }

  public static void forget(String name) {
    GATES.remove(name);
  }

  /** Whether the gate of this name is closed; on a worker of its own there is none to be. */
  public static boolean isClosed(String name) {
    Gate gate = GATES.get(name);
    return gate != null && gate.closed;
  }

  public synchronized void close() {
    closed = true;
  }

  public synchronized void open() {
    closed = false;
    notifyAll();
  }

  /** Whether a batch waits here. */
  public synchronized boolean isHolding() {
    return held;
  }

  /** Called by the driver's thread of the query at the beginning of each batch. */
  synchronized void pass() {
    held = closed;
    try {
      while (closed) {
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new org.apache.kafka.common.errors.InterruptException("the query was stopped before the batch began", e);
    } finally {
      held = false;
    }
  }
}
