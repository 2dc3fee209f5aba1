package io.tidemill.state;

/**
 * How many rows a task keeps in all its stores.
 *
 * Spark would look every row up before it writes it to know that, which for rows that are not there yet costs more than
 * writing them. A {@link Store} knows already what is there.
 */
public final class RowCount {
  private long rows;
  private long saved;

  /** @param saved the number that is kept with the state */
  public RowCount(long saved) {
    this.rows = saved;
    this.saved = saved;
  }

  public long get() {
    return rows;
  }

  void add(int more) {
    rows += more;
  }

  /** Whether the number is another one than when this was asked last, or than the one that is kept. */
  public boolean hasChanged() {
    boolean changed = rows != saved;
    saved = rows;
    return changed;
  }
}
