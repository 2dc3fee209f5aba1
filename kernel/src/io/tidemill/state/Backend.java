package io.tidemill.state;

import java.util.List;

/** Where the bytes of one named store of one task live. */
public interface Backend {
  byte[] get(byte[] key);

  /** @param added whether nothing was kept under this key before */
  void put(byte[] key, byte[] value, boolean added);

  /** Removes what is kept under this key. */
  void remove(byte[] key);

  /** All keys that were written down, in any order. */
  List<byte[]> keys();
}
