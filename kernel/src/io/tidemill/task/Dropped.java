package io.tidemill.task;

import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;

/** How many records a program left out, by reason; counted on the workers, read on the driver. */
public final class Dropped implements Serializable {
  public static final String NULL_KEY = "null_key";
  public static final String NULL_VALUE = "null_value";
  public static final String LATE = "late";

  private final Map<String, LongAccumulator> counters = new LinkedHashMap<>();

  public Dropped(SparkContext context) {
    for (String reason : new String[] {NULL_KEY, NULL_VALUE, LATE}) {
      counters.put(reason, context.longAccumulator("tidemill.dropped." + reason));
    }
  }

  void add(String reason) {
    counters.get(reason).add(1L);
  }

  public long count(String reason) {
    return counters.get(reason).sum();
  }
}
