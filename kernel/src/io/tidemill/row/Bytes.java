package io.tidemill.row;

import java.util.Arrays;

/** Bytes as a map key, ordered as Kafka orders serialised keys. */
public final class Bytes implements Comparable<Bytes> {
  private final byte[] bytes;
  private final int hash;

  public Bytes(byte[] bytes) {
    this.bytes = bytes;
    this.hash = Arrays.hashCode(bytes);
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
