package io.tidemill.problem;

/** Spark's state could not be read or written: no record is to blame, and no handler may go on. */
public final class StateFailure extends RuntimeException {
  public StateFailure(Throwable cause) {
    super(cause.toString(), cause);
  }
}
