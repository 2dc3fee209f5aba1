package io.tidemill.source;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/**
 * Where a batch of a backlog ends, so that no partition runs ahead of another in time.
 *
 * Kafka Streams takes the oldest of the next records of all partitions a task reads. Over several batches that comes
 * out the same if each batch ends at one moment: every partition at its first record that is not older. A join then
 * finds the rows that were there at its records' time, and records are not late because their partition was read later.
 *
 * The moment is searched for with Kafka's index of times, for each group of partitions by itself, until the group's
 * part of the batch is nearly as large as it may be.
 */
final class TimeCut {
  /** A batch this full needs no further question to Kafka. */
  private static final double FULL_ENOUGH = 0.8;

  private static final int MOST_QUESTIONS = 48;

  /** Times of records, as Kafka knows them. */
  interface Times {
    /** The first offset of each partition at or after a time; a partition without one is left out. */
    Map<TopicPartition, Long> offsets(Map<TopicPartition, Long> times);

    /** Bounds of the times of all records of these partitions. */
    Span span(Collection<TopicPartition> partitions);
  }

  /** From the oldest to the newest time. */
  record Span(long oldest, long newest) {}

  private final Times times;

  TimeCut(Times times) {
    this.times = times;
  }

  /**
   * @param byPartition whether partitions of one number make a group, or all together
   * @param limit the most records of the batch
   * @return the ends, null if no moment was found
   */
  Offsets ends(Offsets start, Offsets latest, long limit, boolean byPartition) {
    Map<Integer, Group> groups = new TreeMap<>();
    long total = 0;
    for (TopicPartition partition : latest.partitions()) {
      long to = latest.get(partition);
      Long known = start.get(partition);
      long from = Math.min(known == null ? 0 : known, to);
      groups.computeIfAbsent(byPartition ? partition.partition() : 0, n -> new Group()).add(partition, from, to);
      total += to - from;
    }
    if (total <= limit) {
      return latest;
    }
    Span span = times.span(latest.partitions());
    for (Group group : groups.values()) {
      // Groups share the batch by what they have, and each may take at least one record.
      group.begin(Math.max(1, (long) ((double) limit * group.size() / total)), span);
    }
    for (int asked = 0; asked < MOST_QUESTIONS; asked++) {
      Map<TopicPartition, Long> questions = new HashMap<>();
      groups.values().forEach(group -> group.ask(questions));
      if (questions.isEmpty()) {
        Offsets ends = Offsets.none();
        groups.values().forEach(group -> group.ends(ends));
        return ends;
      }
      Map<TopicPartition, Long> answers = times.offsets(questions);
      groups.values().forEach(group -> group.learn(questions, answers));
    }
    return null;
  }

  /** Partitions that keep pace with each other, and what is known about their times. */
  private static final class Group {
    private final List<TopicPartition> partitions = new ArrayList<>();
    private final List<Long> from = new ArrayList<>();
    private final List<Long> to = new ArrayList<>();
    private long limit;
    private long early;
    private long late;
    private List<Long> atEarly;
    private List<Long> atLate;
    private boolean halve;
    private boolean done;

    void add(TopicPartition partition, long start, long end) {
      partitions.add(partition);
      from.add(start);
      to.add(end);
    }

    long size() {
      return count(to);
    }

    void begin(long most, Span span) {
      limit = most;
      early = span.oldest();
      late = span.newest() + 1;
      atEarly = from;
      atLate = to;
      done = size() <= limit;
      if (done) {
        atEarly = to;
      }
    }

    void ask(Map<TopicPartition, Long> questions) {
      if (!done) {
        long moment = moment();
        partitions.forEach(partition -> questions.put(partition, moment));
      }
    }

    /** Between the bounds: where an even flow of records would fill the batch, and every other time in the middle. */
    private long moment() {
      double wanted = (1 + FULL_ENOUGH) / 2 * limit;
      double share = halve ? 0.5 : (wanted - count(atEarly)) / Math.max(1, count(atLate) - count(atEarly));
      long moment = early + (long) ((late - early) * Math.min(1, Math.max(0, share)));
      return Math.min(late - 1, Math.max(early + 1, moment));
    }

    void learn(Map<TopicPartition, Long> questions, Map<TopicPartition, Long> answers) {
      if (done) {
        return;
      }
      long moment = questions.get(partitions.get(0));
      List<Long> found = new ArrayList<>();
      for (int i = 0; i < partitions.size(); i++) {
        Long answer = answers.get(partitions.get(i));
        found.add(answer == null ? to.get(i) : Math.max(from.get(i), Math.min(to.get(i), answer)));
      }
      if (count(found) <= limit) {
        early = moment;
        atEarly = found;
      } else {
        late = moment;
        atLate = found;
      }
      halve = !halve;
      done = count(atEarly) >= FULL_ENOUGH * limit || late - early <= 1;
    }

    /** What lies at one moment is divided, if that alone is too much. */
    void ends(Offsets ends) {
      long more = count(atLate) - count(atEarly);
      double share = 0;
      if (count(atEarly) < FULL_ENOUGH * limit && more > 0) {
        share = Math.min(1, (double) (limit - count(atEarly)) / more);
      }
      for (int i = 0; i < partitions.size(); i++) {
        long between = atLate.get(i) - atEarly.get(i);
        ends.put(partitions.get(i), atEarly.get(i) + (long) Math.ceil(between * share));
      }
    }

    private long count(List<Long> ends) {
      long count = 0;
      for (int i = 0; i < ends.size(); i++) {
        count += ends.get(i) - from.get(i);
      }
      return count;
    }
  }
}
