package io.tidemill.state;

/** What has parts of a store in memory. */
public interface Cached {
  /** Lets go of all that is in memory; what was not saved is lost. */
  void forget();
}
