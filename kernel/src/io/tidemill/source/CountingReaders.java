package io.tidemill.source;

import io.tidemill.problem.FirstFailure;
import io.tidemill.sink.Gate;
import java.io.IOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;

/** Readers that count what they read: our own in batches, Spark's in real-time mode, which end when the gate closes. */
record CountingReaders(PartitionReaderFactory kafka, boolean inBatches, ReadCounts counts, String gate)
    implements PartitionReaderFactory {
  private static final int TOPIC = 2;
  private static final int TIMESTAMP = 5;
  private static final long MICROS_PER_MILLI = 1000;
  /** What a row of Spark has beside key and value. */
  private static final int ROW_BYTES = 120;

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    FirstFailure.watch();
    boolean own = inBatches && partition instanceof KafkaBatchInputPartition;
    return new Reader(own ? new RecordReader((KafkaBatchInputPartition) partition) : kafka.createReader(partition));
  }

  private final class Reader implements SupportsRealTimeRead<InternalRow> {
    /** How soon a closed gate is seen; a record that comes is never kept waiting. */
    private static final long LOOK_MILLIS = 50;

    private final PartitionReader<InternalRow> reader;
    private String topic;
    private long records;
    private long bytes;
    private long latest = Long.MIN_VALUE;

    Reader(PartitionReader<InternalRow> reader) {
      this.reader = reader;
    }

    @Override
    public boolean next() throws IOException {
      return reader.next() ? counted() : told();
    }

    @Override
    public RecordStatus nextWithTimeout(Long startMillis, Long timeoutMillis) throws IOException {
      SupportsRealTimeRead<InternalRow> live = (SupportsRealTimeRead<InternalRow>) reader;
      long left = timeoutMillis;
      while (left > 0 && !Gate.isClosed(gate)) {
        long patience = Math.min(left, LOOK_MILLIS);
        RecordStatus status = live.nextWithTimeout(startMillis, patience);
        if (status.hasRecord()) {
          counted();
          return status;
        }
        left -= patience;
      }
      told();
      return RecordStatus.newStatusWithoutArrivalTime(false);
    }

    @Override
    public InternalRow get() {
      return reader.get();
    }

    @Override
    public PartitionOffset getOffset() {
      return ((SupportsRealTimeRead<InternalRow>) reader).getOffset();
    }

    @Override
    public CustomTaskMetric[] currentMetricsValues() {
      return reader.currentMetricsValues();
    }

    @Override
    public void close() throws IOException {
      told();
      reader.close();
    }

    private boolean counted() {
      InternalRow row = reader.get();
      if (topic == null) {
        // A reader reads one partition.
        topic = row.getUTF8String(TOPIC).toString();
      }
      records++;
      bytes += reader instanceof RecordReader own ? ROW_BYTES + own.size() : ((UnsafeRow) row).getSizeInBytes();
      latest = Math.max(latest, row.getLong(TIMESTAMP));
      return true;
    }

    /** The counts are shared: they are told once per task, not once per record. */
    private boolean told() {
      if (records > 0) {
        counts.add(new ReadCounts.Count(topic, records, bytes, Math.floorDiv(latest, MICROS_PER_MILLI)));
      }
      records = 0;
      bytes = 0;
      return false;
    }
  }
}
