package io.tidemill.problem;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskFailureListener;

/**
 * What the first task of a query that failed has failed with.
 *
 * In real-time mode all tasks of a query run at once. One that fails closes its connections, and a task that waits for
 * it fails, too; Spark reports whichever it hears of first. A task comes by here before it closes anything.
 */
public final class FirstFailure {
  private static final String RUN = "spark.jobGroup.id";
  private static final int KEPT = 100;

  private static final Map<String, Throwable> OF_RUNS = new LinkedHashMap<>() {
    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Throwable> eldest) {
      return size() > KEPT;
    }
  };

  private FirstFailure() {}

  /** Notes what the present task fails with, if it does; on the driver, which asks an operator for its state, nothing. */
  public static void watch() {
    TaskContext present = TaskContext.get();
    if (present != null) {
      TaskFailureListener listener = (context, error) -> note(context.getLocalProperty(RUN), error);
      present.addTaskFailureListener(listener);
    }
  }

  /** @return null if no task of this run of a query has failed in this JVM */
  public static Throwable of(String run) {
    synchronized (OF_RUNS) {
      return OF_RUNS.get(run);
    }
  }

  private static void note(String run, Throwable error) {
    synchronized (OF_RUNS) {
      OF_RUNS.putIfAbsent(run, error);
    }
  }
}
