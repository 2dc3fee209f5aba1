package io.tidemill.clock;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
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
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The wall clock as a streaming source: one barrier per batch, with the time of its latest tick.
 *
 * The time is an offset, so a batch that is run again sees the time it saw before. Without an interval there is one tick
 * when the query starts, which lets every task begin before its first record.
 */
public final class TickSource implements TableProvider {
  private static final StructType SCHEMA = StructType.fromDDL(
      "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
          + "headers array<struct<key:string,value:binary>>");

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new Ticks();
  }

  private static final class Ticks implements SupportsRead {
    @Override
    public String name() {
      return "ticks";
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
      return () -> new TickScan(options.getLong("interval", 0));
    }
  }

  private record TickScan(long interval) implements Scan {
    @Override
    public StructType readSchema() {
      return SCHEMA;
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
      return new TickStream(interval);
    }
  }

  private static final class TickStream implements MicroBatchStream {
    private final long interval;
    private final long started = System.currentTimeMillis();

    TickStream(long interval) {
      this.interval = interval;
    }

    @Override
    public Offset initialOffset() {
      return new Time(0);
    }

    @Override
    public Offset latestOffset() {
      return new Time(interval <= 0 ? started : started + (System.currentTimeMillis() - started) / interval * interval);
    }

    @Override
    public Offset deserializeOffset(String json) {
      return new Time(Long.parseLong(json));
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
      return new InputPartition[] {new Tick(((Time) end).millis)};
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

  private static final class Time extends Offset {
    private final long millis;

    Time(long millis) {
      this.millis = millis;
    }

    @Override
    public String json() {
      return Long.toString(millis);
    }
  }

  private record Tick(long millis) implements InputPartition {}

  private static final class Factory implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      return new Reader(((Tick) partition).millis);
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
