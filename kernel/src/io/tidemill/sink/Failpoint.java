package io.tidemill.sink;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Named moments at which a test makes the process die, fail or wait: {@code name:nth[:kill|raise|sleep=ms]}.
 *
 * Read from the system property `tidemill.failpoint`, else the variable `TIDEMILL_FAILPOINT`; several are separated by
 * commas. `nth` counts from 1 and over the whole process; without an action the process dies.
 */
public final class Failpoint {
  private static final Map<String, AtomicInteger> HITS = new ConcurrentHashMap<>();
  private static final String FROM_ENVIRONMENT = System.getenv("TIDEMILL_FAILPOINT");
  private static final int KILLED = 137;

  private Failpoint() {}

  public static void reach(String name) {
    String wanted = wanted();
    if (wanted.isEmpty()) {
      return;
    }
    for (String one : wanted.split(",")) {
      String[] parts = one.split(":");
      if (parts[0].equals(name)) {
        int hit = HITS.computeIfAbsent(one, ignored -> new AtomicInteger()).incrementAndGet();
        if (hit == Integer.parseInt(parts[1])) {
          act(name, parts.length > 2 ? parts[2] : "kill");
        }
      }
    }
  }

  /** Whether a test asks for a safeguard to be left out, which shows that the tests notice: a name without a number. */
  static boolean isSwitchedOn(String name) {
    String wanted = wanted();
    return !wanted.isEmpty() && List.of(wanted.split(",")).contains(name);
  }

  /** Count from the beginning again. */
  public static void reset() {
    HITS.clear();
  }

  private static String wanted() {
    String property = System.getProperty("tidemill.failpoint", FROM_ENVIRONMENT);
    return property == null ? "" : property;
  }

  private static void act(String name, String action) {
    if (action.equals("kill")) {
      // No shutdown hook runs, no buffer is written: the nearest thing to kill -9 a process can do to itself.
      Runtime.getRuntime().halt(KILLED);
    } else if (action.equals("raise")) {
      throw new IllegalStateException("failpoint " + name);
    } else if (action.startsWith("sleep=")) {
      try {
        Thread.sleep(Long.parseLong(action.substring("sleep=".length())));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    } else {
      throw new IllegalArgumentException("unknown action of a failpoint: " + action);
    }
  }
}
