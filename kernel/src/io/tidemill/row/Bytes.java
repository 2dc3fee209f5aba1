package io.tidemill.row;

import java.util.Arrays;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/** Bytes as a map key, ordered as Kafka orders serialised keys. */
public final class Bytes implements Comparable<Bytes> {
  private static final int SEED = 42;

  private final byte[] bytes;
  private final int hash;

  public Bytes(byte[] bytes) {
    this.bytes = bytes;
    this.hash = hash(bytes);
  }

  /** A hash in whose every bit is something of every byte. */
  public static int hash(byte[] bytes) {
    // The hash of arrays tells keys that end in a few digits and padding badly apart.
    return Murmur3_x86_32.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, SEED);
  }

  public byte[] get() {
    return bytes;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Bytes that && hash == that.hash && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public int compareTo(Bytes that) {
    return Arrays.compareUnsigned(bytes, that.bytes);
  }
}
