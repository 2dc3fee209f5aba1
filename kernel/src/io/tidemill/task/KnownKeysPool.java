package io.tidemill.task;

import io.tidemill.state.KnownKeys;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.util.TaskCompletionListener;

/**
 * What is known of the keys of a partition's stores, kept in this JVM from one batch to the next.
 *
 * It is only true of the very state it was learned from: a batch that another executor has worked on, or that failed and
 * is done again, begins with knowing nothing. So does a query that is started again.
 */
final class KnownKeysPool implements TaskCompletionListener {
  private static final int KEPT = 2_000;
  private static final Map<Place, Resting> RESTING = new LinkedHashMap<>(16, 0.75f, true) {
    @Override
    protected boolean removeEldestEntry(Map.Entry<Place, Resting> eldest) {
      return size() > KEPT;
    }
  };

  private final String query;
  private final StateStore state;
  private final Map<Place, KnownKeys> inUse = new HashMap<>();

  private KnownKeysPool(String query, StateStore state) {
    this.query = query;
    this.state = state;
  }

  /**
   * For the partition that this thread is at work on.
   *
   * @param query what no other run of a query has
   */
  static KnownKeysPool of(String query, StateStore state) {
    KnownKeysPool pool = new KnownKeysPool(query, state);
    TaskContext.get().addTaskCompletionListener(pool);
    return pool;
  }

  KnownKeys take(int task, String store) {
    return inUse.computeIfAbsent(new Place(query, task, store), place -> {
      synchronized (RESTING) {
        Resting found = RESTING.remove(place);
        return found != null && found.version == state.version() ? found.keys : new KnownKeys();
      }
    });
  }

  @Override
  public void onTaskCompletion(TaskContext context) {
    if (state.hasCommitted() && !context.isFailed() && !context.isInterrupted()) {
      synchronized (RESTING) {
        inUse.forEach((place, keys) -> RESTING.put(place, new Resting(state.version() + 1, keys)));
      }
    }
  }

  private record Place(String query, int task, String store) {}

  /** @param version of the state they are true of */
  private record Resting(long version, KnownKeys keys) {}
}
