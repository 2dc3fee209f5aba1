package io.tidemill.row;

/**
 * A record on its way through a task: of a stream (key, value) or of a table (key, new value, old value).
 *
 * Keys and values are Spark's internal objects (UTF8String, Long, InternalRow, ...). `latest` is false only for the
 * update of a versioned table that a newer version already covers.
 */
public record Rec(Object key, Object value, Object old, long time, Object headers, boolean latest) {
  public Rec(Object key, Object value, long time, Object headers) {
    this(key, value, null, time, headers, true);
  }

  public Rec withKey(Object newKey) {
    return new Rec(newKey, value, old, time, headers, latest);
  }

  public Rec withValue(Object newValue) {
    return new Rec(key, newValue, old, time, headers, latest);
  }

  public Rec change(Object newValue, Object oldValue) {
    return new Rec(key, newValue, oldValue, time, headers, latest);
  }

  public Rec change(Object newValue, Object oldValue, long newTime) {
    return new Rec(key, newValue, oldValue, newTime, headers, latest);
  }
}
