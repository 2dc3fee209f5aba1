package io.tidemill.row;

/** A value with the timestamp that belongs to it: one row of a table. */
public final class Timed {
  private final Object value;
  private final long time;

  /** What whoever keeps this row wants to find again with it while it is in memory; it is not stored. */
  public Object note;

  public Timed(Object value, long time) {
    this.value = value;
    this.time = time;
  }

  public Object value() {
    return value;
  }

  public long time() {
    return time;
  }

  public static Object valueOf(Timed row) {
    return row == null ? null : row.value;
  }
}
