package io.tidemill.state;

import java.io.Serializable;

/** How a store's values become bytes. */
public interface Coder<T> extends Serializable {
  byte[] encode(T value);

  T decode(byte[] bytes);
}
