package io.tidemill.sink;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;

/**
 * What a sink was started with.
 *
 * @param queryId Spark's id of the checkpoint the query runs from: batch numbers mean something within it only
 * @param oneProcess whether driver and workers are this JVM
 * @param idPrefix what transactional ids begin with; empty without transactions
 * @param markers the group whose offsets are the batch markers, and the topic that tasks have theirs in
 * @param layout how records find their lanes; another layout puts other records into a lane of the same batch
 * @param gate the name of the {@link Gate} batches pass and of the {@link Claim} they are written under, empty for none
 * @param handling what becomes of records that could not be read, processed or written
 * @param kafka client settings, by the Java client's names
 */
record SinkOptions(
    String queryId, boolean oneProcess, String idPrefix, String markers, String layout, String gate, Handling handling,
    Map<String, String> kafka)
    implements Serializable {
  private static final String PREFIX = "kafka.";

  static SinkOptions of(LogicalWriteInfo info) {
    Map<String, String> kafka = new HashMap<>();
    info.options().asCaseSensitiveMap().forEach((name, value) -> {
      if (name.startsWith(PREFIX)) {
        kafka.put(name.substring(PREFIX.length()), value);
      }
    });
    String idPrefix = info.options().getOrDefault("transactionalIdPrefix", "");
    String markers = info.options().getOrDefault("markers", "");
    if (idPrefix.isEmpty() != markers.isEmpty()) {
      throw new IllegalArgumentException("transactionalIdPrefix and markers go together");
    }
    boolean oneProcess = SparkContext.getOrCreate().isLocal();
    String layout = info.options().getOrDefault("layout", "");
    String gate = info.options().getOrDefault("gate", "");
    return new SinkOptions(
        info.queryId(), oneProcess, idPrefix, markers, layout, gate, Handling.of(info.options()), kafka);
  }

  boolean exactlyOnce() {
    return !idPrefix.isEmpty();
  }

  /** Settings of a producer: ours are defaults, except for the serialisers. */
  Map<String, Object> producer() {
    Map<String, Object> config = new HashMap<>();
    config.put(ProducerConfig.LINGER_MS_CONFIG, "25");
    config.put(ProducerConfig.BATCH_SIZE_CONFIG, String.valueOf(256 * 1024));
    config.put(ProducerConfig.BUFFER_MEMORY_CONFIG, String.valueOf(64 * 1024 * 1024));
    config.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
    config.put(ProducerConfig.ACKS_CONFIG, "all");
    // A topic that is not there is waited for this long.
    config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "30000");
    config.putAll(kafka);
    config.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
    config.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
    return config;
  }

  /** Settings of an admin client: what a producer alone understands is left out. */
  Map<String, Object> admin() {
    Map<String, Object> config = new HashMap<>();
    kafka.forEach((name, value) -> {
      if (org.apache.kafka.clients.admin.AdminClientConfig.configNames().contains(name)) {
        config.put(name, value);
      }
    });
    return config;
  }
}
