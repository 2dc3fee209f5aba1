package io.tidemill.sink;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/**
 * The driver's side of the sink.
 *
 * Tasks commit for themselves: what makes a batch count once is the marker inside each transaction, so the
 * driver has nothing left to do when a batch ends or fails, but to add up what was written and left out.
 */
final class KafkaStreamingWrite implements StreamingWrite {
  private final SinkOptions options;
  private final RecordFields fields;
  private final SentCounts sent;

  KafkaStreamingWrite(SinkOptions options, RecordFields fields, SentCounts sent) {
    if (options.exactlyOnce() && !fields.hasLanes()) {
      throw new IllegalArgumentException("exactly-once needs the column `task`");
    }
    this.options = options;
    this.fields = fields;
    this.sent = sent;
  }

  @Override
  public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
    if (!options.gate().isEmpty()) {
      Gate.of(options.gate()).pass();
    }
    Claim claim = Claim.named(options.gate());
    return new Factory(options, fields, claim == null ? null : claim.member());
  }

  @Override
  public boolean useCommitCoordinator() {
    return false;
  }

  @Override
  public void commit(long epochId, WriterCommitMessage[] messages) {
    Failpoint.reach("after_sink_ack_before_commit_log");
    for (WriterCommitMessage message : messages) {
      if (message instanceof Written written) {
        Handled.add(options.gate(), written.handled());
      }
    }
    sent.took(Arrays.stream(messages).map(message -> ((Written) message).sent()).toList());
  }

  @Override
  public void abort(long epochId, WriterCommitMessage[] messages) {}

  @Override
  public String toString() {
    return "tidemill-kafka";
  }

  private record Factory(SinkOptions options, RecordFields fields, Claim.Member member)
      implements StreamingDataWriterFactory {
    @Override
    public DataWriter<InternalRow> createWriter(int partitionId, long taskId, long epochId) {
      return options.exactlyOnce()
          ? new TransactionalWriter(options, fields, epochId, member)
          : new PlainWriter(options, fields);
    }
  }

  /** A task's word that its records are in Kafka, how many, and how many were left out or set aside. */
  record Written(Handled handled, SentCounts sent) implements WriterCommitMessage {}
}
