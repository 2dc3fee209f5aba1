package io.tidemill.serde;

import io.tidemill.source.SourceError;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/** Parts of keys: UUIDs as text, and the times behind a windowed key. */
public final class Keys {
  private static final long MICROS_PER_MILLI = 1000;
  private static final int UUID_LENGTH = 36;

  private Keys() {}

  /** The UUID in lower case, null where the bytes are no UUID. */
  public static UTF8String readUuid(byte[] data) {
    byte[] text = uuid(data);
    return text == null ? null : UTF8String.fromBytes(text);
  }

  public static byte[] writeUuid(UTF8String value) {
    byte[] text = uuid(value.getBytes());
    if (text == null) {
      throw new IllegalArgumentException("`" + value + "` is no UUID");
    }
    return text;
  }

  /** The hash by which Java's producers choose a partition. */
  public static int murmur2(byte[] data) {
    return org.apache.kafka.common.utils.Utils.toPositive(org.apache.kafka.common.utils.Utils.murmur2(data));
  }

  /** The partition a record was read from, if that is where Java's producers put its key; all others are refused. */
  public static int atHome(byte[] key, int partitions, int partition, UTF8String topic, long offset) {
    int home = murmur2(key) % partitions;
    if (home != partition) {
      throw new SourceError(SourceError.Code.KEYS_MISPLACED, "the key of the record at topic `" + topic + "` partition "
          + partition + " offset " + offset + " belongs into partition " + home);
    }
    return partition;
  }

  /** The bytes before the last `tail`, null where there are fewer. */
  public static byte[] head(byte[] data, int tail) {
    return data.length < tail ? null : Arrays.copyOf(data, data.length - tail);
  }

  /** The milliseconds that begin `fromEnd` bytes before the end, as Spark's microseconds. */
  public static Long time(byte[] data, int fromEnd, long plus) {
    if (data.length < fromEnd) {
      return null;
    }
    long millis = Numbers.longAt(data, data.length - fromEnd);
    long sum = millis + plus;
    boolean isOverflow = ((millis ^ sum) & (plus ^ sum)) < 0;
    boolean isTooFar = sum > Long.MAX_VALUE / MICROS_PER_MILLI || sum < Long.MIN_VALUE / MICROS_PER_MILLI;
    return isOverflow || isTooFar ? null : (Long) (sum * MICROS_PER_MILLI);
  }

  private static byte[] uuid(byte[] data) {
    if (data.length != UUID_LENGTH) {
      return null;
    }
    byte[] text = new byte[UUID_LENGTH];
    for (int i = 0; i < UUID_LENGTH; i++) {
      byte c = data[i];
      if (i == 8 || i == 13 || i == 18 || i == 23) {
        if (c != '-') {
          return null;
        }
      } else if (c >= 'A' && c <= 'F') {
        c += 'a' - 'A';
      } else if (!(c >= '0' && c <= '9' || c >= 'a' && c <= 'f')) {
        return null;
      }
      text[i] = c;
    }
    return text;
  }
}
