package io.tidemill.clock;

import io.tidemill.spark.RecordSource;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The wall clock as a streaming source: one barrier per batch, with the time of its latest tick.
 *
 * The time is an offset, so a batch that is run again sees the time it saw before. Without an interval there is one tick
 * when the query starts, which lets every task begin before its first record.
 */
public final class TickSource extends RecordSource {
  public TickSource() {
    super("ticks");
  }

  @Override
  protected RecordStream stream(CaseInsensitiveStringMap options) {
    return new TickStream(options.getLong("interval", 0));
  }

  private static final class TickStream extends RecordStream {
    private final long interval;
    private final long started = System.currentTimeMillis();

    TickStream(long interval) {
      this.interval = interval;
    }

    @Override
    protected long latest() {
      return interval <= 0 ? started : started + (System.currentTimeMillis() - started) / interval * interval;
    }

    @Override
    protected Piece between(long start, long end) {
      return new Tick(end);
    }
  }

  private record Tick(long millis) implements Piece {
    @Override
    public PartitionReader<InternalRow> reader() {
      return new Reader(millis);
    }
  }

  private static final class Reader implements PartitionReader<InternalRow> {
    private final long millis;
    private boolean read;

    Reader(long millis) {
      this.millis = millis;
    }

    @Override
    public boolean next() {
      boolean first = !read;
      read = true;
      return first;
    }

    @Override
    public InternalRow get() {
      return new GenericInternalRow(new Object[] {null, null, null, 0, 0L, millis * 1000, null});
    }

    @Override
    public void close() {}
  }
}
