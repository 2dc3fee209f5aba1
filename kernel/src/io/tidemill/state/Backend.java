package io.tidemill.state;

import java.util.List;

/** Where the bytes of one named store of one task live. */
public interface Backend {
  byte[] get(byte[] key);

  void put(byte[] key, byte[] value);

  void remove(byte[] key);

  /** All keys that were written down, in any order. */
  List<byte[]> keys();
}
