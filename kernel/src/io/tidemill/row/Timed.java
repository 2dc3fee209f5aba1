package io.tidemill.row;

/** A value with the timestamp that belongs to it: one row of a table. */
public record Timed(Object value, long time) {
  public static Object valueOf(Timed row) {
    return row == null ? null : row.value;
  }
}
