package io.tidemill.source;

/** While nothing comes, Kafka is asked less often: an idle app is to cost next to nothing. */
public final class Silence {
  /** The longer nothing came, the longer until the next question: this part of the time. */
  private static final long PART = 16;

  private final long longest;
  private long since;
  private long next;
  private boolean begun;

  /** @param longest the most nanoseconds between two questions beyond Spark's own interval; 0 asks always */
  public Silence(long longest) {
    this.longest = longest;
  }

  /** Whether it is too early for another question. */
  public boolean isTooEarly(long now) {
    return begun && now - next < 0;
  }

  /** How long until the next question, in milliseconds; 0 if it is time. */
  public long millisLeft(long now) {
    return isTooEarly(now) ? (next - now) / 1_000_000 + 1 : 0;
  }

  /** Takes note of a question, and whether there was something. */
  public void asked(long now, boolean some) {
    if (some || !begun) {
      since = now;
      begun = true;
    }
    next = now + Math.min(longest, (now - since) / PART);
  }
}
