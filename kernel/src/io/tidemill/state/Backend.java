package io.tidemill.state;

/** Where the bytes of one named store of one task live. */
public interface Backend {
  byte[] get(byte[] key);

  void put(byte[] key, byte[] value);

  void remove(byte[] key);
}
