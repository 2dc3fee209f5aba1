package io.tidemill.sink;

/**
 * Texts kept with offsets.
 *
 * They end with a zero: the Python client takes them for C strings, and would read on into whatever lies behind.
 */
final class Notes {
  private static final String END = "\0";

  private Notes() {}

  static String write(String text) {
    return text + END;
  }

  static String read(String note) {
    return note.endsWith(END) ? note.substring(0, note.length() - END.length()) : note;
  }
}
