package io.tidemill.source;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The data source `tidemill-kafka-source`: Spark's own Kafka source, which also ends where it is told to, says exactly
 * which records are gone, and notices partitions the plan does not know. See {@link WatchedStream}.
 * Its batches follow a {@link Pace}; see {@link PacedStream}.
 */
public final class KafkaSourceProvider implements TableProvider, DataSourceRegister {
  private final org.apache.spark.sql.kafka010.KafkaSourceProvider spark =
      new org.apache.spark.sql.kafka010.KafkaSourceProvider();

  @Override
  public String shortName() {
    return "tidemill-kafka-source";
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return spark.inferSchema(options);
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new Topics((SupportsRead) spark.getTable(schema, partitioning, properties));
  }

  private record Topics(SupportsRead inner) implements SupportsRead {
    @Override
    public String name() {
      return inner.name();
    }

    @SuppressWarnings("deprecation") // what replaces it is made of it
    @Override
    public StructType schema() {
      return inner.schema();
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return () -> new Records(inner.newScanBuilder(options).build(), options);
    }
  }

  private record Records(Scan inner, CaseInsensitiveStringMap options) implements Scan {
    @Override
    public StructType readSchema() {
      return inner.readSchema();
    }

    @Override
    public String description() {
      return inner.description();
    }

    @Override
    public CustomMetric[] supportedCustomMetrics() {
      return inner.supportedCustomMetrics();
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
      var watched =
          new WatchedStream((KafkaMicroBatchStream) inner.toMicroBatchStream(checkpoint), SourceOptions.of(options));
      return new PacedStream(watched, options);
    }
  }
}
