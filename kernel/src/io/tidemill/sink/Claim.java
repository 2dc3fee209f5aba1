package io.tidemill.sink;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The right to write under an application id: membership in the group of the app's markers, as its only member.
 *
 * Every transaction of the app names the member, so that the broker itself refuses those of an instance that is no
 * longer it. The member's name is always the same: a newcomer takes the place of whoever had it. The offset of one
 * partition of the marker topic, kept fresh, tells others who holds the claim and that he is alive.
 */
public final class Claim {
  /** Who a transaction is committed for; the empty one is nobody in particular. */
  public record Member(String group, int generation, String id, String instance) implements java.io.Serializable {
    ConsumerGroupMetadata metadata() {
      return new ConsumerGroupMetadata(group, generation, id, Optional.of(instance));
    }
  }

  /** The partition of the marker topic whose offset tells who holds the claim. */
  static final int PARTITION = 0;

  private static final Map<String, Claim> HELD = new ConcurrentHashMap<>();
  private static final long BEAT_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final Duration POLL = Duration.ofMillis(250);
  private static final long JOIN_SECONDS = 60;

  private final String name;
  private final ClaimOptions options;
  private final CountDownLatch settled = new CountDownLatch(1);
  private final Thread thread;
  private volatile Member member;
  private volatile RuntimeException lost;
  private volatile boolean closing;

  private Claim(String name, ClaimOptions options) {
    this.name = name;
    this.options = options;
    this.thread = new Thread(this::live, "tidemill-claim-" + options.group());
    thread.setDaemon(true);
  }

  /** Begin to take the claim, from whoever has it; {@link #confirm} tells whether it worked. */
  public static Claim take(String name, ClaimOptions options) {
    Claim claim = new Claim(name, options);
    HELD.put(name, claim);
    claim.thread.start();
    return claim;
  }

  static Claim named(String name) {
    return HELD.get(name);
  }

  /** Wait until the claim is ours; throws what stands against it. */
  public void confirm() throws InterruptedException {
    if (!settled.await(JOIN_SECONDS, TimeUnit.SECONDS)) {
      throw new SinkError(SinkError.Code.UNREACHABLE, "the group `" + options.group() + "` let nobody in");
    }
    if (lost != null) {
      throw lost;
    }
  }

  public boolean isLost() {
    return lost != null;
  }

  /** Who writes now. */
  Member member() {
    try {
      confirm();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new org.apache.kafka.common.errors.InterruptException(e);
    }
    return member;
  }

  /** Leave the group, so that the next one need not wait. */
  public void release() throws InterruptedException {
    HELD.remove(name, this);
    closing = true;
    thread.join(TimeUnit.SECONDS.toMillis(10));
  }

  private void live() {
    KafkaConsumer<byte[], byte[]> consumer = null;
    try {
      consumer = new KafkaConsumer<>(config(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
      hold(consumer);
    } catch (KafkaException e) {
      lost = lost != null ? lost : SinkError.of(e, null);
    } finally {
      settled.countDown();
      if (consumer != null) {
        close(consumer);
      }
    }
  }

  private void hold(KafkaConsumer<byte[], byte[]> consumer) {
    consumer.subscribe(List.of(options.topic()), new Membership(consumer));
    long beats = 0;
    long beaten = System.nanoTime() - BEAT_NANOS;
    while (!closing) {
      consumer.poll(POLL);
      if (member != null && System.nanoTime() - beaten >= BEAT_NANOS) {
        beaten = System.nanoTime();
        Map<TopicPartition, OffsetAndMetadata> beat = Map.of(new TopicPartition(options.topic(), PARTITION),
            new OffsetAndMetadata(++beats, Notes.write(options.who())));
        if (settled.getCount() > 0) {
          try {
            consumer.commitSync(beat);
            settled.countDown();
          } catch (RebalanceInProgressException e) {
            beaten -= BEAT_NANOS;
          }
        } else {
          consumer.commitAsync(beat, null);
        }
      }
    }
  }

  private void close(KafkaConsumer<byte[], byte[]> consumer) {
    var how = closing && lost == null
        ? CloseOptions.GroupMembershipOperation.LEAVE_GROUP
        : CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP;
    try {
      consumer.close(CloseOptions.groupMembershipOperation(how).withTimeout(Duration.ofSeconds(5)));
    } catch (KafkaException ignored) {
      // The broker finds out when the session is over.
    }
  }

  private Map<String, Object> config() {
    Map<String, Object> config = new HashMap<>();
    options.kafka().forEach((key, value) -> {
      if (ConsumerConfig.configNames().contains(key)) {
        config.put(key, value);
      }
    });
    config.putIfAbsent(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, "20000");
    config.put(ConsumerConfig.GROUP_ID_CONFIG, options.group());
    config.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, options.instance());
    config.put(ConsumerConfig.CLIENT_ID_CONFIG, options.clientId());
    config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");
    config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
    // The poll below never waits for the app, but a stopped process must not be put out for this reason too.
    config.put(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, String.valueOf(Integer.MAX_VALUE));
    return config;
  }

  /** Keeps the member's data fresh, reads nothing, and never joins a second time. */
  private final class Membership implements ConsumerRebalanceListener {
    private final KafkaConsumer<byte[], byte[]> consumer;

    Membership(KafkaConsumer<byte[], byte[]> consumer) {
      this.consumer = consumer;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
      consumer.pause(partitions);
      ConsumerGroupMetadata now = consumer.groupMetadata();
      member = new Member(options.group(), now.generationId(), now.memberId(), options.instance());
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {}

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
      if (closing || lost != null) {
        return;
      }
      // To join again here would throw out whoever has come meanwhile: the app has to ask first.
      lost = new SinkError(SinkError.Code.CLAIM_LOST, "Kafka has not heard of this instance for too long");
      throw lost;
    }
  }
}
