package io.tidemill.problem;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The record of a topic that something was made from, or that set it off.
 *
 * @param topic null where there is no such record
 * @param raw (key, value, headers, time) as they were read; null where they are not taken along
 * @param isHere whether the record itself is at work, not something a step before a shuffle made of it
 */
public record Origin(UTF8String topic, Integer partition, Long offset, InternalRow raw, boolean isHere) {
  public static final Origin NONE = new Origin(null, null, null, null, false);

  public String topicName() {
    return topic == null ? null : topic.toString();
  }
}
