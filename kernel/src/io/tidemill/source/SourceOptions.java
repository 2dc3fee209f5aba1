package io.tidemill.source;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * What a source is told besides Spark's own options.
 *
 * @param until where each partition ends, null to go on for ever
 * @param lost what to do about records that are gone: fail, earliest or latest
 * @param recreated topics that were deleted and made again since they were read last
 * @param planned how many partitions of each topic the plan knows; topics that may grow are not named
 * @param align which partitions keep pace with each other in time: those of one number (partition), all, or none
 * @param admin settings of an admin client
 */
record SourceOptions(
    Offsets until, String lost, Set<String> recreated, Map<String, Integer> planned, String align,
    Map<String, Object> admin) {
  static SourceOptions of(CaseInsensitiveStringMap options) {
    Map<String, Object> admin = new HashMap<>();
    options.asCaseSensitiveMap().forEach((name, value) -> {
      if (name.startsWith("kafka.") && AdminClientConfig.configNames().contains(name.substring("kafka.".length()))) {
        admin.put(name.substring("kafka.".length()), value);
      }
    });
    String until = options.getOrDefault("until", "");
    String recreated = options.getOrDefault("recreated", "");
    Map<String, Integer> planned = new HashMap<>();
    String known = options.getOrDefault("planned", "");
    for (String one : known.isEmpty() ? new String[0] : known.split(",")) {
      planned.put(one.substring(0, one.indexOf('=')), Integer.parseInt(one.substring(one.indexOf('=') + 1)));
    }
    return new SourceOptions(
        until.isEmpty() ? null : Offsets.parse(until),
        options.getOrDefault("offsetsLost", "fail"),
        recreated.isEmpty() ? Set.of() : Set.copyOf(List.of(recreated.split(","))),
        planned,
        options.getOrDefault("align", "none"),
        admin);
  }
}
