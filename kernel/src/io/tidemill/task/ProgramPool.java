package io.tidemill.task;

import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.util.Utils;

/**
 * A program as bytes, with the copies of it that rest in this JVM between two batches.
 *
 * A copy serves one task at a time. What was generated for it, the code of users' functions for one, is there for the
 * next batch; else every task of every batch would begin with reading the program and generating it all again.
 */
final class ProgramPool implements Serializable {
  private static final int KEPT_POOLS = 50;
  private static final int KEPT_COPIES = 64;
  private static final Map<String, Deque<Program>> RESTING = new LinkedHashMap<>(16, 0.75f, true) {
    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Deque<Program>> eldest) {
      return size() > KEPT_POOLS;
    }
  };

  private final String id = UUID.randomUUID().toString();
  private final byte[] bytes;

  ProgramPool(Program program) {
    bytes = Utils.serialize(program);
  }

  /** What no other query, and no other run of a query, has. */
  String id() {
    return id;
  }

  Program take() {
    synchronized (RESTING) {
      Deque<Program> resting = RESTING.get(id);
      if (resting != null && !resting.isEmpty()) {
        return resting.pop();
      }
    }
    // An executor loads this library, and the user's own, by a class loader of its own.
    return Utils.deserialize(bytes, Utils.getContextOrSparkClassLoader());
  }

  /** To be called for programs whose batch has come to its end only: what failed may have kept something. */
  void giveBack(Program program) {
    synchronized (RESTING) {
      Deque<Program> resting = RESTING.computeIfAbsent(id, key -> new ArrayDeque<>());
      if (resting.size() < KEPT_COPIES) {
        resting.push(program);
      }
    }
  }
}
