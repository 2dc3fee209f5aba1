package io.tidemill.state;

import io.tidemill.row.Bytes;
import java.util.Arrays;

/**
 * Values by bytes, in one table without entries of their own: a look-up that hits touches half the memory of a HashMap's.
 *
 * Nothing is removed but all at once.
 */
final class ByteTable<V> {
  private static final int LEAST = 64;

  private Bytes[] keys = new Bytes[LEAST];
  private Object[] values = new Object[LEAST];
  private int[] hashes = new int[LEAST];
  private int size;

  int size() {
    return size;
  }

  @SuppressWarnings("unchecked")
  V get(Bytes key) {
    int hash = key.hashCode();
    int mask = hashes.length - 1;
    for (int at = hash & mask; keys[at] != null; at = at + 1 & mask) {
      if (hashes[at] == hash && keys[at].equals(key)) {
        return (V) values[at];
      }
    }
    return null;
  }

  /** Adds a key that is not there yet. */
  void add(Bytes key, V value) {
    if (2 * ++size > keys.length) {
      grow();
    }
    set(key, key.hashCode(), value);
  }

  void clear() {
    if (keys.length > LEAST) {
      keys = new Bytes[LEAST];
      values = new Object[LEAST];
      hashes = new int[LEAST];
    } else {
      Arrays.fill(keys, null);
      Arrays.fill(values, null);
    }
    size = 0;
  }

  private void set(Bytes key, int hash, Object value) {
    int mask = hashes.length - 1;
    int at = hash & mask;
    while (keys[at] != null) {
      at = at + 1 & mask;
    }
    keys[at] = key;
    values[at] = value;
    hashes[at] = hash;
  }

  private void grow() {
    Bytes[] oldKeys = keys;
    Object[] oldValues = values;
    int[] oldHashes = hashes;
    keys = new Bytes[2 * oldKeys.length];
    values = new Object[keys.length];
    hashes = new int[keys.length];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] != null) {
        set(oldKeys[i], oldHashes[i], oldValues[i]);
      }
    }
  }
}
