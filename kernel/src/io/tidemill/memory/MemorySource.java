package io.tidemill.memory;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A streaming source over a {@link MemoryLog}, for micro-batches and for real-time mode.
 *
 * Spark's own memory source asks every 10 ms; this one wakes up with the record. Local mode only.
 */
public final class MemorySource implements TableProvider {
  private static final StructType SCHEMA = StructType.fromDDL(
      "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
          + "headers array<struct<key:string,value:binary>>");

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new MemoryTable();
  }

  private static final class MemoryTable implements SupportsRead {
    @Override
    public String name() {
      return "memory";
    }

    @Override
    @SuppressWarnings("deprecation")
    public StructType schema() {
      return SCHEMA;
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return () -> new MemoryScan(options.get("id"));
    }
  }

  private record MemoryScan(String id) implements Scan {
    @Override
    public StructType readSchema() {
      return SCHEMA;
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
      return new MemoryStream(id);
    }
  }

  private static final class MemoryStream implements MicroBatchStream, SupportsRealTimeMode {
    private final String id;

    MemoryStream(String id) {
      this.id = id;
    }

    @Override
    public Offset initialOffset() {
      return new Index(0);
    }

    @Override
    public Offset latestOffset() {
      return new Index(MemoryLog.of(id).size());
    }

    @Override
    public Offset deserializeOffset(String json) {
      return new Index(Integer.parseInt(json));
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
      return new InputPartition[] {new Range(id, ((Index) start).index, ((Index) end).index)};
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start) {
      return new InputPartition[] {new Range(id, ((Index) start).index, Integer.MAX_VALUE)};
    }

    @Override
    public Offset mergeOffsets(PartitionOffset[] offsets) {
      return new Index(((At) offsets[0]).index);
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return new Factory();
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}
  }

  private static final class Index extends Offset {
    private final int index;

    Index(int index) {
      this.index = index;
    }

    @Override
    public String json() {
      return Integer.toString(index);
    }
  }

  private record At(int index) implements PartitionOffset {}

  private record Range(String id, int start, int end) implements InputPartition {}

  private static final class Factory implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      return new Reader((Range) partition);
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
