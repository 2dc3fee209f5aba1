package io.tidemill.memory;

import io.tidemill.problem.FirstFailure;
import io.tidemill.spark.RecordSource;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A streaming source over a {@link MemoryLog}, for micro-batches and for real-time mode.
 *
 * Spark's own memory source asks every 10 ms; this one wakes up with the record. Local mode only.
 */
public final class MemorySource extends RecordSource {
  public MemorySource() {
    super("memory");
  }

  @Override
  protected RecordStream stream(CaseInsensitiveStringMap options) {
    return new MemoryStream(options.get("id"));
  }

  private static final class MemoryStream extends RecordStream implements SupportsRealTimeMode {
    private final String id;

    MemoryStream(String id) {
      this.id = id;
    }

    @Override
    protected long latest() {
      return MemoryLog.of(id).size();
    }

    @Override
    protected Piece between(long start, long end) {
      return new Range(id, (int) start, (int) end);
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start) {
      return new InputPartition[] {between(((Position) start).number, Integer.MAX_VALUE)};
    }

    @Override
    public Offset mergeOffsets(PartitionOffset[] offsets) {
      return new Position(((At) offsets[0]).index);
    }
  }

  private record At(int index) implements PartitionOffset {}

  private record Range(String id, int start, int end) implements Piece {
    @Override
    public PartitionReader<InternalRow> reader() {
      FirstFailure.watch();
      return new Reader(this);
    }
  }

  private static final class Reader implements SupportsRealTimeRead<InternalRow> {
    private final MemoryLog log;
    private final int end;
    private int next;

    Reader(Range range) {
      this.log = MemoryLog.of(range.id);
      this.next = range.start;
      this.end = range.end;
    }

    @Override
    public boolean next() {
      return next < end && next < log.size() && next++ >= 0;
    }

    @Override
    public RecordStatus nextWithTimeout(Long startMillis, Long timeoutMillis) {
      if (next >= end || !log.await(next, timeoutMillis)) {
        return RecordStatus.newStatusWithoutArrivalTime(false);
      }
      next++;
      return RecordStatus.newStatusWithArrivalTimeMs(System.currentTimeMillis());
    }

    @Override
    public InternalRow get() {
      return log.get(next - 1);
    }

    @Override
    public PartitionOffset getOffset() {
      return new At(next);
    }

    @Override
    public void close() {}
  }
}
