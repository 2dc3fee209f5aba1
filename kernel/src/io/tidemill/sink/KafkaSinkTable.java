package io.tidemill.sink;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend;
import org.apache.spark.sql.types.StructType;

/** What Spark plans a write against. Any topic may be in a row, so there is nothing to look up here. */
final class KafkaSinkTable implements SupportsWrite, ReportsSinkMetrics {
  private final StructType schema;
  private final SentCounts sent = new SentCounts(false);

  KafkaSinkTable(StructType schema) {
    this.schema = schema;
  }

  @Override
  public String name() {
    return "tidemill-kafka";
  }

  @Override
  public StructType schema() {
    return schema;
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(TableCapability.STREAMING_WRITE, TableCapability.ACCEPT_ANY_SCHEMA);
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return new Builder(info, sent);
  }

  /** What was written since the query started, by topic. */
  @Override
  public Map<String, String> metrics() {
    return Map.of("sent", sent.json());
  }

  /** An update of a table is a record like any other, hence "update as append". */
  private record Builder(LogicalWriteInfo info, SentCounts sent)
      implements SupportsStreamingUpdateAsAppend, Write {
    @Override
    public Write build() {
      return this;
    }

    @Override
    public String description() {
      return "tidemill-kafka";
    }

    @Override
    public StreamingWrite toStreaming() {
      return new KafkaStreamingWrite(SinkOptions.of(info), new RecordFields(info.schema()), sent);
    }
  }
}
