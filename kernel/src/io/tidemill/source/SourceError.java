package io.tidemill.source;

import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;

/** A reason not to read on, told in words; the message begins with the code in brackets, as a sink's does. */
public final class SourceError extends RuntimeException {
  /** What kind of reason it was. */
  public enum Code { OFFSETS_LOST, PARTITIONS_ADDED, KEYS_MISPLACED, DENIED, OTHER }

  public SourceError(Code code, String text) {
    this(code, text, null);
  }

  private SourceError(Code code, String text, Throwable cause) {
    super("[" + code + "] " + text, cause);
  }

  static SourceError of(Throwable cause) {
    boolean denied = cause instanceof AuthorizationException || cause instanceof AuthenticationException;
    return new SourceError(denied ? Code.DENIED : Code.OTHER, String.valueOf(cause.getMessage()), cause);
  }
}
