package io.tidemill.sink;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tidemill.problem.Letters;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.header.Headers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How many records were left out or set aside: counted by each task's writer, added up on the driver. */
public final class Handled implements Serializable {
  private static final Map<String, Handled> OF_QUERIES = new ConcurrentHashMap<>();
  private static final Logger LOG = LoggerFactory.getLogger("io.tidemill.problem");
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Map<Reason, Count> counts = new LinkedHashMap<>();

  private record Reason(String kind, String outcome, String node, String error) implements Serializable {}

  private static final class Count implements Serializable {
    long number;
    String last;
  }

  /** The sums of a query in the driver's JVM, as JSON: a list of objects. */
  public static String of(String query) {
    Handled sums = OF_QUERIES.get(query);
    return sums == null ? "[]" : sums.json();
  }

  public static void forget(String query) {
    OF_QUERIES.remove(query);
  }

  static void add(String query, Handled counted) {
    if (!counted.counts.isEmpty()) {
      OF_QUERIES.computeIfAbsent(query, ignored -> new Handled()).addAll(counted);
    }
  }

  /** @param headers of the letter that was or would be written */
  void count(String outcome, Headers headers) {
    Reason reason = new Reason(Handling.text(headers, Letters.KIND), outcome, Handling.text(headers, Letters.NODE),
        Handling.text(headers, Letters.EXCEPTION));
    Count count = counts.computeIfAbsent(reason, ignored -> new Count());
    count.number++;
    count.last = Handling.text(headers, Letters.TOPIC) + "-" + Handling.text(headers, Letters.PARTITION) + "@"
        + Handling.text(headers, Letters.OFFSET) + ": " + Handling.text(headers, Letters.MESSAGE);
    LOG.warn("{} failed at `{}`, {}: {}", reason.kind, reason.node, outcome, count.last);
  }

  private synchronized void addAll(Handled other) {
    other.counts.forEach((reason, count) -> {
      Count sum = counts.computeIfAbsent(reason, ignored -> new Count());
      sum.number += count.number;
      sum.last = count.last;
    });
  }

  private synchronized String json() {
    List<Map<String, Object>> all = new ArrayList<>();
    counts.forEach((reason, count) -> all.add(Map.of("kind", reason.kind, "outcome", reason.outcome, "node", reason.node,
        "error", reason.error, "count", count.number, "last", count.last)));
    try {
      return JSON.writeValueAsString(all);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
