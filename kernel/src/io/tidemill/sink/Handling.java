package io.tidemill.sink;

import io.tidemill.problem.Letters;
import io.tidemill.problem.RecordFailure;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * What becomes of records that could not be read, processed or written.
 *
 * @param outcomes fail, continue or dead_letter, by the kind of the failure
 * @param topic of dead letters
 * @param application the id of the application
 */
record Handling(Map<String, String> outcomes, String topic, String application) implements Serializable {
  static final String FAIL = "fail";
  static final String DEAD_LETTER = "dead_letter";
  private static final String OPTION = "handler.";

  static Handling of(CaseInsensitiveStringMap options) {
    Map<String, String> outcomes = new java.util.HashMap<>();
    for (String kind : List.of(
        RecordFailure.DESERIALIZATION, RecordFailure.PROCESSING, RecordFailure.PRODUCTION)) {
      outcomes.put(kind, options.getOrDefault(OPTION + kind, FAIL));
    }
    return new Handling(outcomes, options.getOrDefault(OPTION + "topic", ""), options.getOrDefault(OPTION + "application", ""));
  }

  boolean refusesBadWrites() {
    return outcomes.get(RecordFailure.PRODUCTION).equals(FAIL);
  }

  boolean writesLetter(String kind) {
    return DEAD_LETTER.equals(outcomes.get(kind));
  }

  /** The dead letter of a record that could not be written: the record itself, and why. */
  ProducerRecord<byte[], byte[]> letter(ProducerRecord<byte[], byte[]> record, String node, SinkError error) {
    List<Header> headers = new ArrayList<>();
    record.headers().forEach(headers::add);
    Throwable cause = error.reason();
    headers.add(header(Letters.KIND, RecordFailure.PRODUCTION));
    headers.add(header(Letters.APPLICATION, application));
    headers.add(header(Letters.NODE, node));
    headers.add(header(Letters.EXCEPTION, cause.getClass().getName()));
    headers.add(header(Letters.MESSAGE, error.text()));
    headers.add(header(Letters.STACKTRACE, Letters.trace(cause)));
    if (record.topic() != null) {
      headers.add(header(Letters.TOPIC, record.topic()));
    }
    if (record.timestamp() != null) {
      headers.add(header(Letters.TIMESTAMP, record.timestamp()));
    }
    Long time = record.timestamp() == null || record.timestamp() < 0 ? null : record.timestamp();
    return new ProducerRecord<>(topic, null, time, record.key(), record.value(), headers);
  }

  /** The letter of a record that is too large even for the topic of dead letters: without its value and the trace. */
  static ProducerRecord<byte[], byte[]> withoutValue(ProducerRecord<byte[], byte[]> letter) {
    List<Header> headers = new ArrayList<>();
    letter.headers().forEach(header -> {
      if (!header.key().equals(Letters.STACKTRACE)) {
        headers.add(header);
      }
    });
    headers.add(header(Letters.LEFT_OUT, letter.value().length));
    return new ProducerRecord<>(letter.topic(), null, letter.timestamp(), letter.key(), null, headers);
  }

  static String text(Headers headers, String name) {
    Header found = headers.lastHeader(name);
    return found == null || found.value() == null ? "" : new String(found.value(), StandardCharsets.UTF_8);
  }

  private static Header header(String name, Object value) {
    return new RecordHeader(name, String.valueOf(value).getBytes(StandardCharsets.UTF_8));
  }
}
