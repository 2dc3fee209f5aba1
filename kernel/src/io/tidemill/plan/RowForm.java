package io.tidemill.plan;

/** What rows of generated code are made for. */
public enum RowForm {
  /** To move: Spark's binary form, in one buffer for all. */
  BINARY,
  /** To be looked at before the next one is made. */
  PASSING,
  /** To stay in their task, which keeps parts of them. */
  KEPT
}
