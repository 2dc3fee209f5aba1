package io.tidemill.problem;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What went wrong with one record: in which step, with which record of which topic, and how.
 *
 * The message is JSON in one line: it is all that is left of an error by the time it has travelled from a worker
 * through Spark's own exceptions.
 */
public final class RecordFailure extends RuntimeException {
  public static final String DESERIALIZATION = "deserialization";
  public static final String PROCESSING = "processing";
  public static final String PRODUCTION = "production";

  private static final ObjectMapper JSON = new ObjectMapper();

  private RecordFailure(String json, Throwable cause) {
    super(json, cause);
  }

  /**
   * @param node the step
   * @param place where the step was declared, null if unknown
   * @param error the class of what was thrown
   */
  public static RecordFailure of(
      String kind, String node, String place, Origin origin, String error, String message, Throwable cause) {
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("kind", kind);
    told.put("node", node);
    told.put("place", place);
    told.put("topic", origin == null ? null : origin.topicName());
    told.put("partition", origin == null ? null : origin.partition());
    told.put("offset", origin == null ? null : origin.offset());
    told.put("error", error);
    told.put("message", message);
    try {
      return new RecordFailure(JSON.writeValueAsString(told), cause);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
