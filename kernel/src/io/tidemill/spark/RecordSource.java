package io.tidemill.spark;

import java.util.Map;
import java.util.Set;
import java.util.function.Function;
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
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A streaming source of rows in the form of Kafka records, one partition, positions that are numbers. */
public abstract class RecordSource implements TableProvider {
  private static final StructType SCHEMA = StructType.fromDDL(
      "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
          + "headers array<struct<key:string,value:binary>>");

  private final String name;

  protected RecordSource(String name) {
    this.name = name;
  }

  /** The stream that a query reads with these options. */
  protected abstract RecordStream stream(CaseInsensitiveStringMap options);

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new Records(name, this::stream);
  }

  private record Records(String name, Function<CaseInsensitiveStringMap, RecordStream> stream) implements SupportsRead {
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
      return () -> new Scan() {
        @Override
        public StructType readSchema() {
          return SCHEMA;
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
          return stream.apply(options);
        }
      };
    }
  }

  /** What a source says of itself: where it is, and what to read between two positions. */
  public abstract static class RecordStream implements MicroBatchStream {
    /** How far there is something to read. */
    protected abstract long latest();

    /** What one batch reads. */
    protected abstract Piece between(long start, long end);

    @Override
    public final Offset initialOffset() {
      return new Position(0);
    }

    @Override
    public final Offset latestOffset() {
      return new Position(latest());
    }

    @Override
    public final Offset deserializeOffset(String json) {
      return new Position(Long.parseLong(json));
    }

    @Override
    public final InputPartition[] planInputPartitions(Offset start, Offset end) {
      return new InputPartition[] {between(((Position) start).number, ((Position) end).number)};
    }

    @Override
    public final PartitionReaderFactory createReaderFactory() {
      return new Factory();
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}
  }

  /** A part of the source that knows how to read itself. */
  public interface Piece extends InputPartition {
    PartitionReader<InternalRow> reader();
  }

  /** A place in the source. */
  public static final class Position extends Offset {
    public final long number;

    public Position(long number) {
      this.number = number;
    }

    @Override
    public String json() {
      return Long.toString(number);
    }
  }

  private static final class Factory implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      return ((Piece) partition).reader();
    }
  }
}
