package io.tidemill.serde;

import io.tidemill.problem.Origin;
import io.tidemill.problem.RecordFailure;
import org.apache.spark.unsafe.types.UTF8String;

/** Bytes that a serde cannot read, told in words. */
public final class Broken {
  /** The name under which such a failure is told; nothing was thrown. */
  public static final String ERROR = "tidemill.DeserializationError";

  private static final int SHOWN_BYTES = 40;

  private Broken() {}

  /** What is wrong with the key or value of a record. */
  public static UTF8String message(UTF8String part, UTF8String serde, byte[] data) {
    return UTF8String.fromString(
        "the " + part + " is not what the serde `" + serde + "` reads: " + data.length + " bytes, " + preview(data));
  }

  /** Fails the query; never returns. The result has whatever type the value would have had. */
  public static Object refuse(
      UTF8String node, UTF8String place, UTF8String topic, int partition, long offset, UTF8String message) {
    throw RecordFailure.of(RecordFailure.DESERIALIZATION, node.toString(), place.toString(),
        new Origin(topic, partition, offset, null, true), ERROR, message.toString(), null);
  }

  /** Always true. Asked about a value, it keeps Spark from leaving out a value that nobody needs, unread. */
  public static boolean wasRead(boolean isNull) {
    return true;
  }

  /** The first bytes: printable ASCII as it is, all others as \xNN, so that no terminal or log is led astray. */
  static String preview(byte[] data) {
    StringBuilder text = new StringBuilder("`");
    for (int i = 0; i < data.length && i < SHOWN_BYTES; i++) {
      char character = (char) (data[i] & 0xff);
      boolean plain = character >= ' ' && character < 127 && character != '\\' && character != '`';
      text.append(plain ? String.valueOf(character) : String.format("\\x%02x", (int) character));
    }
    return text.append(data.length > SHOWN_BYTES ? "...`" : "`").toString();
  }
}
