package io.tidemill.state;

import io.tidemill.row.Bytes;
import java.util.List;
import java.util.function.Supplier;

/**
 * Which keys a store may have, so that one it has not need not be looked for.
 *
 * RocksDB takes longer to say no than to say anything else: it has to look everywhere, and its Java client throws an
 * exception in C++. Keys are counted by their hash; where the count is none there is no such key, elsewhere there may be.
 * Nothing is counted before enough keys have been looked for in vain to pay for reading all that are there.
 */
public final class KnownKeys {
  /** As many keys looked for in vain as this, and as this part of the rows, pay for reading them all. */
  private static final int LEAST_MISSES = 1_000;
  private static final int ROWS_PER_MISS = 8;

  /** Places for each key: at first, and at the least. More keys than that are counted anew. */
  private static final int PLACES = 16;
  private static final int FEWEST_PLACES = 4;
  private static final int LEAST_PLACES = 1 << 12;
  /** Beyond this the counts would take more memory than they are worth. */
  private static final int MOST_KEYS = 1 << 22;

  private static final int FULL = 255;

  private byte[] counts;
  private int keys;
  private int misses;
  private boolean tooMany;

  /** Whether the store has no such key, for sure. */
  boolean lacks(byte[] key) {
    return counts != null && counts[place(key)] == 0;
  }

  /**
   * A key was looked for in vain.
   *
   * @param rows at least as many as the store has
   * @param all reads the keys of the store
   */
  void missed(long rows, Supplier<List<byte[]>> all) {
    if (counts == null && !tooMany && ++misses >= LEAST_MISSES && misses >= rows / ROWS_PER_MISS) {
      count(all.get());
    }
  }

  void added(byte[] key) {
    keys++;
    if (counts == null) {
      return;
    }
    if ((long) keys * FEWEST_PLACES > counts.length) {
      counts = null;
      misses = 0;
      return;
    }
    increase(place(key));
  }

  void removed(byte[] key) {
    keys--;
    if (counts != null) {
      int place = place(key);
      int count = counts[place] & FULL;
      // One that is full may stand for more keys than it says, and stays.
      if (count != FULL) {
        counts[place] = (byte) (count - 1);
      }
    }
  }

  private void count(List<byte[]> all) {
    keys = all.size();
    if (keys > MOST_KEYS) {
      tooMany = true;
      return;
    }
    counts = new byte[Math.max(LEAST_PLACES, Integer.highestOneBit(keys * PLACES))];
    for (byte[] key : all) {
      increase(place(key));
    }
  }

  private void increase(int place) {
    int count = counts[place] & FULL;
    if (count != FULL) {
      counts[place] = (byte) (count + 1);
    }
  }

  private int place(byte[] key) {
    return Bytes.hash(key) & counts.length - 1;
  }
}
