package io.tidemill.serde;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing UTF-8 text. */
final class Text {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private byte[] bytes = new byte[256];
  private int length;

  Text clear() {
    length = 0;
    return this;
  }

  byte[] toBytes() {
    return Arrays.copyOf(bytes, length);
  }

  Text add(char ascii) {
    room(1);
    bytes[length++] = (byte) ascii;
    return this;
  }

  Text add(String ascii) {
    room(ascii.length());
    for (int i = 0; i < ascii.length(); i++) {
      bytes[length++] = (byte) ascii.charAt(i);
    }
    return this;
  }

  Text add(byte[] utf8) {
    room(utf8.length);
    System.arraycopy(utf8, 0, bytes, length, utf8.length);
    length += utf8.length;
    return this;
  }

  Text add(long number) {
    return number >= 0 && number < 10 ? add((char) ('0' + number)) : add(Long.toString(number));
  }

  /** A number of a fixed width, with zeros before it. */
  Text padded(int number, int width) {
    room(width);
    for (int i = length + width - 1; i >= length; i--, number /= 10) {
      bytes[i] = (byte) ('0' + number % 10);
    }
    length += width;
    return this;
  }

  /** A JSON string: only what must be escaped is. */
  Text quoted(byte[] utf8) {
    room(6 * utf8.length + 2);
    bytes[length++] = '"';
    for (byte c : utf8) {
      if (c == '"' || c == '\\') {
        escape(c);
      } else if (c >= 0 && c < ' ') {
        control(c);
      } else {
        bytes[length++] = c;
      }
    }
    bytes[length++] = '"';
    return this;
  }

  private void control(byte c) {
    switch (c) {
      case '\n' -> escape('n');
      case '\r' -> escape('r');
      case '\t' -> escape('t');
      case '\b' -> escape('b');
      case '\f' -> escape('f');
      default -> add("\\u00").add((char) HEX[c >> 4]).add((char) HEX[c & 15]);
    }
  }

  private void escape(int c) {
    bytes[length++] = '\\';
    bytes[length++] = (byte) c;
  }

  private void room(int more) {
    if (length + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
    }
  }
}
