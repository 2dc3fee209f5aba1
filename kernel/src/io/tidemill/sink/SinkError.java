package io.tidemill.sink;

import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * A record that could not be written, told in words.
 *
 * The message begins with the code in brackets: it is all that is left of an error by the time it has travelled
 * from a worker through Spark's own exceptions.
 */
public final class SinkError extends RuntimeException {
  /** What kind of failure it was. */
  public enum Code { UNKNOWN_TOPIC, TOO_LARGE, DENIED, FENCED, CLAIM_LOST, LAYOUT, UNREACHABLE, NO_TOPIC, BAD_TIMESTAMP, OTHER }

  private final Code code;
  private final String text;
  private final String topic;

  SinkError(Code code, String text) {
    this(code, text, null, null);
  }

  private SinkError(Code code, String text, String topic, Throwable cause) {
    super("[" + code + "] " + text, cause);
    this.code = code;
    this.text = text;
    this.topic = topic;
  }

  public Code code() {
    return code;
  }

  /** What went wrong, without the code. */
  String text() {
    return text;
  }

  /** The topic being written to, null if the failure is not about one. */
  String topic() {
    return topic;
  }

  /** What Kafka's client threw, under whatever it was wrapped in. */
  Throwable reason() {
    return getCause() == null ? this : reason(getCause());
  }

  /** Whether another record might have been written. */
  boolean isAboutRecord() {
    return switch (code) {
      case NO_TOPIC, BAD_TIMESTAMP, TOO_LARGE, UNKNOWN_TOPIC -> true;
      case DENIED -> reason() instanceof TopicAuthorizationException;
      case OTHER -> reason() instanceof InvalidRecordException || reason() instanceof InvalidTimestampException
          || reason() instanceof PolicyViolationException;
      default -> false;
    };
  }

  /** @param topic the topic being written to, null if the failure is not about one */
  static SinkError of(Throwable cause, String topic) {
    return of(cause, topic, "");
  }

  /** @param id the transactional id in use */
  static SinkError of(Throwable cause, String topic, String id) {
    if (cause instanceof SinkError already) {
      return already;
    }
    Throwable reason = reason(cause);
    String name = topic == null ? "Kafka" : "topic `" + topic + "`";
    String said = reason.getMessage() == null ? reason.getClass().getSimpleName() : reason.getMessage();
    Code code = code(reason, said);
    String text = switch (code) {
      case UNKNOWN_TOPIC -> name + " does not exist";
      case TOO_LARGE -> "a record is too large for " + name + ": " + said;
      case DENIED -> denied(reason, name, said, id);
      case FENCED -> "another instance of this application has taken over: " + said;
      case CLAIM_LOST -> "Kafka does not take this instance for the running one any more: " + said;
      case UNREACHABLE -> "Kafka did not answer while writing to " + name + ": " + said;
      default -> "writing to " + name + " failed: " + reason.getClass().getSimpleName() + ": " + said;
    };
    return new SinkError(code, text, topic, cause);
  }

  private static String denied(Throwable reason, String name, String said, String id) {
    if (reason instanceof TransactionalIdAuthorizationException) {
      return "not authorised to use transactional id `" + id + "`";
    }
    if (reason instanceof GroupAuthorizationException group) {
      return "not authorised to use group `" + group.groupId() + "`";
    }
    if (reason instanceof TopicAuthorizationException topics && !topics.unauthorizedTopics().isEmpty()) {
      return "not authorised to write to topic `" + String.join("`, `", topics.unauthorizedTopics()) + "`";
    }
    return reason instanceof AuthenticationException
        ? "the broker refused the login: " + said
        : "not authorised to write to " + name + ": " + said;
  }

  private static Throwable reason(Throwable error) {
    Throwable reason = error;
    while (reason.getCause() != null && code(reason, String.valueOf(reason.getMessage())) == Code.OTHER) {
      reason = reason.getCause();
    }
    return reason;
  }

  private static Code code(Throwable reason, String said) {
    if (reason instanceof UnknownTopicOrPartitionException || reason instanceof InvalidTopicException
        || reason instanceof TimeoutException && said.contains("not present in metadata")) {
      return Code.UNKNOWN_TOPIC;
    }
    if (reason instanceof RecordTooLargeException) {
      return Code.TOO_LARGE;
    }
    if (reason instanceof TopicAuthorizationException || reason instanceof TransactionalIdAuthorizationException
        || reason instanceof AuthorizationException || reason instanceof AuthenticationException) {
      return Code.DENIED;
    }
    if (reason instanceof CommitFailedException) {
      return Code.CLAIM_LOST;
    }
    if (reason instanceof ProducerFencedException || reason instanceof InvalidProducerEpochException
        || reason instanceof FencedInstanceIdException || reason instanceof InvalidPidMappingException) {
      return Code.FENCED;
    }
    return reason instanceof TimeoutException ? Code.UNREACHABLE : Code.OTHER;
  }
}
