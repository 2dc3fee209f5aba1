package io.tidemill.source;

/**
 * How many records a batch may have.
 *
 * A live stream needs no limit: a batch takes what has come since the last one, so its length settles near the trigger's
 * interval. The limit is for a backlog. There a batch is to be large, because each one has a fixed cost, but it must fit
 * into memory, where the records of a batch are put in order, and it must end within a bearable time, because only its
 * end counts as progress and a stop waits for it. So the limit follows the speed that is measured, up to two ceilings.
 */
public final class Pace {
  /** Below this a batch is all fixed cost. */
  static final long LEAST = 500;

  /** The first batch: nothing is known yet, and the JVM is cold. */
  static final long FIRST = 20_000;

  private static final long STEP = 4;
  /** A batch that is this full might have been larger; those that end at one moment are never quite full. */
  private static final double FULL = 0.6;

  private final long targetMillis;
  private final long mostRecords;
  private final long mostBytes;
  private long limit;
  private double bytesPerRecord;

  /**
   * @param targetMillis how long a batch may take
   * @param mostRecords the user's ceiling
   * @param mostBytes what the records of a batch may take in memory
   */
  public Pace(long targetMillis, long mostRecords, long mostBytes) {
    this.targetMillis = targetMillis;
    this.mostRecords = mostRecords;
    this.mostBytes = mostBytes;
    this.limit = Math.min(FIRST, mostRecords);
  }

  /** The most records the next batch may have. */
  public long limit() {
    return limit;
  }

  /** Takes note of a batch: its records, how long it took, and the bytes that were read for it. */
  public void finished(long records, long millis, long bytes) {
    if (records <= 0) {
      return;
    }
    if (bytes > 0) {
      double size = (double) bytes / records;
      // The largest of late: a ceiling for memory must not rest on an average of better days.
      bytesPerRecord = Math.max(size, 0.9 * bytesPerRecord);
    }
    boolean full = records >= FULL * limit;
    boolean late = millis > targetMillis;
    if (full || late) {
      long wanted = (long) ((double) records * targetMillis / Math.max(1, millis));
      limit = Math.max(limit / STEP, Math.min(limit * STEP, wanted));
    }
    limit = Math.max(Math.min(LEAST, mostRecords), Math.min(limit, ceiling()));
  }

  private long ceiling() {
    return bytesPerRecord > 0 ? Math.min(mostRecords, (long) (mostBytes / bytesPerRecord)) : mostRecords;
  }
}
