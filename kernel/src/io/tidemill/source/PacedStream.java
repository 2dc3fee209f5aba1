package io.tidemill.source;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The stream of a Kafka source, with a limit per batch that follows its {@link Pace}, and counts of what was read.
 *
 * Options: `pace.target.ms`, `pace.records`, `pace.share` (of how many sources this is one), and `gate`, whose closing
 * ends a batch of real-time mode.
 */
final class PacedStream
    implements MicroBatchStream, SupportsTriggerAvailableNow, SupportsRealTimeMode, ReportsSourceMetrics {
  /** Records are held in memory, twice at the worst, beside everything else. */
  private static final long SHARE_OF_MEMORY = 8;

  /** How long a record that ends a silence may wait for Kafka to be asked. */
  private static final long LONGEST_NANOS = 250_000_000;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final MicroBatchStream kafka;
  private final Pace pace;
  private final String gate;
  /** Whether the query has no other reader of topics. */
  private final boolean alone;
  private final ReadCounts counts = new ReadCounts();
  private Silence silence = new Silence(LONGEST_NANOS);
  private long grantedAt;
  private boolean granted;
  private boolean live = true;
  private long recordsBefore;
  private long bytesBefore;
  /** The group the readers of this start of the query are in. */
  private String group = "";

  PacedStream(MicroBatchStream kafka, CaseInsensitiveStringMap options) {
    SparkContext context = SparkContext.getOrCreate();
    this.kafka = kafka;
    this.gate = options.getOrDefault("gate", "");
    long sources = Math.max(1, options.getLong("pace.share", 1));
    this.pace = new Pace(options.getLong("pace.target.ms", 5000),
        Math.max(1, options.getLong("pace.records", Long.MAX_VALUE) / sources),
        memory(context) / SHARE_OF_MEMORY / sources);
    this.alone = sources == 1;
    context.register(counts);
  }

  @Override
  public Offset initialOffset() {
    return kafka.initialOffset();
  }

  @Override
  public Offset latestOffset() {
    return kafka.latestOffset();
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    return ReadLimit.maxRows(pace.limit());
  }

  /** Spark asks this before each batch: the time since it was granted the last one is what that one took. */
  @Override
  public Offset latestOffset(Offset start, ReadLimit limit) {
    if (granted) {
      long millis = (System.nanoTime() - grantedAt) / 1_000_000;
      pace.finished(counts.records() - recordsBefore, millis, counts.bytes() - bytesBefore);
    }
    granted = false;
    if (live && !mayAsk()) {
      return start;
    }
    recordsBefore = counts.records();
    bytesBefore = counts.bytes();
    Offset end = ((SupportsAdmissionControl) kafka).latestOffset(start, ReadLimit.maxRows(pace.limit()));
    boolean some = end != null && !end.equals(start);
    grantedAt = System.nanoTime();
    silence.asked(grantedAt, some);
    granted = live && some;
    return end;
  }

  /** Waits out a silence, which is cheaper than to be asked again and again; not where another reader would wait, too. */
  private boolean mayAsk() {
    long millis = silence.millisLeft(System.nanoTime());
    if (millis == 0) {
      return true;
    }
    if (!alone) {
      return false;
    }
    try {
      Thread.sleep(millis);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the query is to stop
      return false;
    }
  }

  @Override
  public Offset reportLatestOffset() {
    return ((SupportsAdmissionControl) kafka).reportLatestOffset();
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    // "Nothing new" is the end of the query here.
    silence = new Silence(0);
    ((SupportsTriggerAvailableNow) kafka).prepareForTriggerAvailableNow();
  }

  @Override
  public void prepareForRealTimeMode() {
    // A batch has neither a limit nor a length of its own, and Kafka tells by itself when something comes.
    live = false;
    ((SupportsRealTimeMode) kafka).prepareForRealTimeMode();
  }

  @Override
  public Offset deserializeOffset(String json) {
    return kafka.deserializeOffset(json);
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    InputPartition[] planned = kafka.planInputPartitions(start, end);
    if (planned.length > 0 && planned[0] instanceof KafkaBatchInputPartition first) {
      group = String.valueOf(first.executorKafkaParams().get(ConsumerConfig.GROUP_ID_CONFIG));
    }
    return planned;
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start) {
    return ((SupportsRealTimeMode) kafka).planInputPartitions(start);
  }

  @Override
  public Offset mergeOffsets(PartitionOffset[] offsets) {
    return ((SupportsRealTimeMode) kafka).mergeOffsets(offsets);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new CountingReaders(kafka.createReaderFactory(), live, counts, gate);
  }

  /** What was read since the query started, by topic, and the limit of a batch, beside Spark's own figures. */
  @Override
  public Map<String, String> metrics(Optional<Offset> latestConsumed) {
    Map<String, String> all = new HashMap<>(((ReportsSourceMetrics) kafka).metrics(latestConsumed));
    try {
      all.put("read", JSON.writeValueAsString(counts.value()));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
    all.put("batchLimit", Long.toString(pace.limit()));
    return all;
  }

  @Override
  public void commit(Offset end) {
    kafka.commit(end);
  }

  @Override
  public void stop() {
    Fetchers.close(group);
    kafka.stop();
  }

  @Override
  public String toString() {
    return kafka.toString();
  }

  /** The memory of one worker; with several workers a batch is spread, so this errs on the safe side. */
  private static long memory(SparkContext context) {
    if (context.isLocal()) {
      return Runtime.getRuntime().maxMemory();
    }
    return context.getConf().getSizeAsBytes("spark.executor.memory", "1g");
  }
}
