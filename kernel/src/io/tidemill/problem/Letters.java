package io.tidemill.problem;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** The headers that tell why a record became a dead letter; those Kafka Streams has too are named as there. */
public final class Letters {
  public static final String EXCEPTION = "__streams.errors.exception";
  public static final String MESSAGE = "__streams.errors.message";
  public static final String STACKTRACE = "__streams.errors.stacktrace";
  public static final String TOPIC = "__streams.errors.topic";
  public static final String PARTITION = "__streams.errors.partition";
  public static final String OFFSET = "__streams.errors.offset";
  public static final String TIMESTAMP = "__streams.errors.timestamp";
  public static final String NODE = "__streams.errors.node";
  public static final String APPLICATION = "__streams.errors.application.id";
  public static final String KIND = "__streams.errors.kind";
  public static final String LEFT_OUT = "__streams.errors.value.left.out";

  private static final int LONGEST_TRACE = 4000;
  private static final int LONGEST_MESSAGE = 4000;

  private Letters() {}

  /** @param original the headers of the record, null if it has none or is not known */
  public static ArrayData headers(
      ArrayData original, String kind, String application, String node, Origin origin, Long time, Throwable error) {
    List<Object> all = new ArrayList<>();
    for (int i = 0; original != null && i < original.numElements(); i++) {
      all.add(original.getStruct(i, 2));
    }
    add(all, KIND, kind);
    add(all, APPLICATION, application);
    add(all, NODE, node);
    add(all, EXCEPTION, error.getClass().getName());
    add(all, MESSAGE, messageOf(error));
    add(all, STACKTRACE, trace(error));
    add(all, TOPIC, origin.topicName());
    add(all, PARTITION, origin.partition());
    add(all, OFFSET, origin.offset());
    add(all, TIMESTAMP, time);
    return new GenericArrayData(all.toArray());
  }

  /** The first line of what an exception says. */
  public static String messageOf(Throwable error) {
    String message = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage().strip();
    int end = message.indexOf('\n');
    return cut(end < 0 ? message : message.substring(0, end), LONGEST_MESSAGE);
  }

  public static String trace(Throwable error) {
    StringWriter text = new StringWriter();
    error.printStackTrace(new PrintWriter(text));
    return cut(text.toString(), LONGEST_TRACE);
  }

  private static void add(List<Object> headers, String name, Object value) {
    if (value != null) {
      byte[] bytes = value.toString().getBytes(StandardCharsets.UTF_8);
      headers.add((InternalRow) new GenericInternalRow(new Object[] {UTF8String.fromString(name), bytes}));
    }
  }

  private static String cut(String text, int length) {
    return text.length() <= length ? text : text.substring(0, length) + "...";
  }
}
