package io.tidemill.sink;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.ProducerRecord;

/** How many records were written, by topic, and how old they were when readers could see them. */
final class SentCounts implements Serializable {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Map<String, Count> topics = new TreeMap<>();
  private final boolean fromCommit;
  private transient String lastTopic;
  private transient Count last;

  /** Bytes of keys and values; ages in milliseconds: of all records together, of the youngest and of the oldest. */
  static final class Count implements Serializable {
    public long records;
    public long bytes;
    public long ages;
    public long youngest = Long.MAX_VALUE;
    public long oldest = Long.MIN_VALUE;
  }

  /** @param fromCommit whether records can be seen only after {@link #committed} */
  SentCounts(boolean fromCommit) {
    this.fromCommit = fromCommit;
  }

  void add(ProducerRecord<byte[], byte[]> record) {
    String topic = record.topic();
    Long time = record.timestamp();
    long now = time == null || !fromCommit ? System.currentTimeMillis() : 0;
    long age = time != null ? now - time : fromCommit ? -now : 0;
    if (!topic.equals(lastTopic)) {
      last = topics.computeIfAbsent(topic, ignored -> new Count());
      lastTopic = topic;
    }
    last.records++;
    last.bytes += size(record.key()) + size(record.value());
    last.ages += age;
    last.youngest = Math.min(last.youngest, age);
    last.oldest = Math.max(last.oldest, age);
  }

  /** Nobody saw the records before their transaction was committed: that is the time their ages count to. */
  void committed() {
    long now = System.currentTimeMillis();
    for (Count count : topics.values()) {
      count.ages += count.records * now;
      count.youngest += now;
      count.oldest += now;
    }
  }

  /** Adds a batch: sums grow, extremes are those of the batch. */
  synchronized void took(Iterable<SentCounts> batch) {
    topics.values().forEach(count -> {
      count.youngest = Long.MAX_VALUE;
      count.oldest = Long.MIN_VALUE;
    });
    for (SentCounts task : batch) {
      task.topics.forEach((topic, more) -> {
        Count count = topics.computeIfAbsent(topic, ignored -> new Count());
        count.records += more.records;
        count.bytes += more.bytes;
        count.ages += more.ages;
        count.youngest = Math.min(count.youngest, more.youngest);
        count.oldest = Math.max(count.oldest, more.oldest);
      });
    }
  }

  private static int size(byte[] bytes) {
    return bytes == null ? 0 : bytes.length;
  }

  synchronized String json() {
    try {
      return JSON.writeValueAsString(topics);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
