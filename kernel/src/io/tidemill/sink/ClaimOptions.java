package io.tidemill.sink;

import java.util.Map;

/**
 * How a claim is made.
 *
 * @param group the group whose only member holds the claim
 * @param topic the topic it subscribes to
 * @param instance the member's lasting name
 * @param clientId what Kafka's tools show of it
 * @param who the holder, in words of the caller's
 * @param kafka client settings, by the Java client's names
 */
public record ClaimOptions(
    String group, String topic, String instance, String clientId, String who,
    Map<String, String> kafka) {}
