package io.tidemill.task;

import io.tidemill.node.Node;
import io.tidemill.node.Output;
import io.tidemill.node.TableNode;
import io.tidemill.problem.Letters;
import io.tidemill.problem.Origin;
import io.tidemill.problem.Plan;
import io.tidemill.problem.RecordFailure;
import io.tidemill.problem.StateFailure;
import io.tidemill.problem.StepFailure;
import io.tidemill.row.Bytes;
import io.tidemill.row.Evaluator;
import io.tidemill.row.Rec;
import io.tidemill.sink.Failpoint;
import io.tidemill.state.Backend;
import io.tidemill.state.Cached;
import io.tidemill.state.Coder;
import io.tidemill.state.RowCount;
import io.tidemill.state.Store;
import io.tidemill.state.TimeBuffer;
import io.tidemill.state.TimeIndex;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * One partition of a running program: takes records one at a time, depth first, in order, as Kafka Streams does.
 *
 * Nodes ask it for their stores and their clocks; what leaves the program waits in {@link #outputs}.
 */
public final class Task {
  /** Fields a user's function over one record can read; see {@link #eval}. */
  public static final int RECORD_WIDTH = 7;

  private static final int RECORD_TIME = 2;

  private static final int RAW_HEADERS = 2;
  private static final int RAW_TIME = 3;
  private static final long NO_TIME = Long.MIN_VALUE;
  /** The name by which barriers ask for the numbers of dropped records. */
  private static final String DROPS = "tidemill.dropped";

  private static final UTF8String ASK = UTF8String.fromString("ask");
  private static final UTF8String ANSWER = UTF8String.fromString("answer");
  private static final UTF8String KEY = UTF8String.fromString("key");
  private static final UTF8String VALUE = UTF8String.fromString("value");
  private static final UTF8String TIME = UTF8String.fromString("time");

  public final int id;
  public final ArrayDeque<InternalRow> outputs = new ArrayDeque<>();
  private final Program program;
  private final Node[] nodes;
  private final int[] entries;
  private final Function<String, Backend> backends;
  private final Dropped dropped;
  private final Store<Long> clocks;
  private final RowCount rows;
  private final List<Cached> cached = new ArrayList<>();
  private final Map<String, long[]> times = new HashMap<>();
  private final Plan problems;
  private final Map<String, Long> drops = new HashMap<>();
  private long sequence;
  private boolean finished;
  private Origin origin = Origin.NONE;
  private Object topic;
  private Object partition;
  private Object offset;

  /** @param rows counts what the backends keep */
  Task(int id, Program program, Dropped dropped, Function<String, Backend> backends, RowCount rows) {
    this.id = id;
    this.program = program;
    this.nodes = program.nodes();
    this.entries = program.entries();
    this.backends = backends;
    this.rows = rows;
    this.dropped = dropped;
    this.problems = program.problems();
    this.clocks = new Store<>(backends.apply(Program.CLOCKS), new LongCoder());
    for (Node node : nodes) {
      node.open(this);
    }
  }

  /** Whether its last batch has come to the end. */
  boolean isFinished() {
    return finished;
  }

  /** Sends one record into the program at an entry. */
  public void accept(int port, Rec record, Origin from) {
    finished = false;
    work(from, entries[port], 0, record);
  }

  /** Does what a node put off, as if the record that caused it were at work. */
  public void later(Origin from, Node node, Runnable work) {
    at(from);
    int before = outputs.size();
    try {
      work.run();
    } catch (StateFailure e) {
      throw e;
    } catch (RuntimeException e) {
      failed(StepFailure.of(node.name, e), before);
    }
  }

  /** The record of a topic that is at work, or that what is at work was made from. */
  public Origin origin() {
    return origin;
  }

  boolean isFromTopic(int port) {
    return program.isFromTopic(port);
  }

  private void work(Origin from, int node, int slot, Rec record) {
    at(from);
    int before = outputs.size();
    try {
      nodes[node].process(slot, record);
    } catch (StateFailure e) {
      throw e;
    } catch (RuntimeException e) {
      failed(StepFailure.of(nodes[node].name, e), before);
    }
  }

  private void at(Origin from) {
    origin = from;
    topic = from.isHere() ? from.topic() : null;
    partition = from.isHere() ? from.partition() : null;
    offset = from.isHere() ? from.offset() : null;
  }

  /** What a record has sent out before it failed is taken back: it is not to be in the output and set aside, too. */
  private void failed(StepFailure failure, int before) {
    Throwable error = failure.getCause();
    String node = problems.node(failure.node);
    if (!problems.goesOn()) {
      throw RecordFailure.of(RecordFailure.PROCESSING, node, problems.place(failure.node), origin,
          error.getClass().getName(), Letters.messageOf(error), error);
    }
    while (outputs.size() > before) {
      outputs.removeLast();
    }
    InternalRow raw = origin.raw();
    Long time = raw == null ? null : raw.getLong(RAW_TIME);
    ArrayData headers = raw == null || raw.isNullAt(RAW_HEADERS) ? null : raw.getArray(RAW_HEADERS);
    ArrayData told =
        Letters.headers(headers, RecordFailure.PROCESSING, problems.application(), node, origin, time, error);
    Object key = raw == null || raw.isNullAt(0) ? null : raw.getBinary(0);
    Object value = raw == null || raw.isNullAt(1) ? null : raw.getBinary(1);
    Output.send(this, problems.port(), new Rec(key, value, time == null ? 0 : time, told));
  }

  /** Hands on what nodes held back as their part of this batch, upstream first, and writes all state down. */
  public void finish() {
    for (Node node : nodes) {
      node.flush();
    }
    for (Node node : nodes) {
      node.save();
      Failpoint.reach("mid_state_update");
    }
    times.forEach(this::saveClock);
    if (rows.hasChanged()) {
      clocks.put(new Bytes(Program.ROWS), rows.get());
    }
    clocks.save();
    finished = true;
  }

  public void send(int node, int slot, Rec record) {
    try {
      nodes[node].process(slot, record);
    } catch (StateFailure e) {
      throw e;
    } catch (RuntimeException e) {
      throw StepFailure.of(nodes[node].name, e);
    }
  }

  public Node node(int index) {
    return nodes[index];
  }

  public <T> Store<T> store(String name, Coder<T> coder) {
    return kept(new Store<>(backends.apply(name), coder));
  }

  public TimeIndex timeIndex(String name, long width) {
    return kept(new TimeIndex(backends.apply(name), width));
  }

  public TimeBuffer timeBuffer(String name, long width) {
    return kept(new TimeBuffer(backends.apply(name), width));
  }

  private <T extends Cached> T kept(T store) {
    cached.add(store);
    return store;
  }

  /** Lets go of all state in memory, and of the program: this task is over. */
  Program release() {
    cached.forEach(Cached::forget);
    outputs.clear();
    origin = Origin.NONE;
    return program;
  }

  /** The stored clock of this name; it starts before all time and only moves forward. */
  public long[] clock(String name) {
    return times.computeIfAbsent(name, key -> {
      Long saved = clocks.get(clockKey(key));
      long time = saved == null ? NO_TIME : saved;
      return new long[] {time, time};
    });
  }

  /** Writes a clock down that has moved since it was written: the second number is what is written. */
  private void saveClock(String name, long[] time) {
    if (time[0] != time[1]) {
      clocks.put(clockKey(name), time[0]);
      time[1] = time[0];
    }
  }

  /** Applies a user's function to (key, value) and the record's own data. */
  public Object eval(Evaluator function, Rec record, Object value) {
    Long time = function.reads(RECORD_TIME) ? record.time() * 1000 : null;
    return function.eval(record.key(), value, time, record.headers(), topic, partition, offset);
  }

  public boolean test(Evaluator predicate, Rec record, Object value) {
    return Boolean.TRUE.equals(eval(predicate, record, value));
  }

  public void drop(String reason) {
    dropped.add(reason);
    drops.merge(reason, 1L, Long::sum);
  }

  /** How many ports lead out of the program. */
  public int ports() {
    return program.ports();
  }

  /** Numbers the outputs of this task, so that a later stage can keep their order. */
  public long nextSequence() {
    return sequence++;
  }

  /** What a barrier's headers ask for, as headers: the rows of a table, or drops; null if not this task's to say. */
  ArrayData answer(ArrayData headers) {
    InternalRow question = headers.numElements() == 0 ? null : headers.getStruct(0, 2);
    if (question == null || !ASK.equals(question.getUTF8String(0))) {
      return null;
    }
    String store = new String(question.getBinary(1), StandardCharsets.UTF_8);
    if (DROPS.equals(store)) {
      return withDrops(headers);
    }
    Program.Exposed asked = program.exposed(store);
    if (asked == null) {
      return null;
    }
    List<Object> told = new ArrayList<>();
    told.add(header(ANSWER, question.getBinary(1)));
    ((TableNode) nodes[asked.node()]).each(backends.apply(store), (key, row) -> {
      told.add(header(KEY, (byte[]) asked.key().eval(key)));
      told.add(header(VALUE, row.value() == null ? null : (byte[]) asked.value().eval(row.value())));
      told.add(header(TIME, ByteBuffer.allocate(Long.BYTES).putLong(row.time()).array()));
    });
    return new GenericArrayData(told.toArray());
  }

  /** The headers, and behind them how many records this task dropped, by reason: every task of the way adds its own. */
  private ArrayData withDrops(ArrayData headers) {
    List<Object> told = new ArrayList<>();
    for (int i = 0; i < headers.numElements(); i++) {
      told.add(headers.getStruct(i, 2).copy());
    }
    drops.forEach((reason, count) ->
        told.add(header(UTF8String.fromString(reason), ByteBuffer.allocate(Long.BYTES).putLong(count).array())));
    return new GenericArrayData(told.toArray());
  }

  private static InternalRow header(UTF8String name, byte[] value) {
    return new GenericInternalRow(new Object[] {name, value});
  }

  private static Bytes clockKey(String name) {
    return new Bytes(name.getBytes(StandardCharsets.UTF_8));
  }

  private static final class LongCoder implements Coder<Long> {
    @Override
    public byte[] encode(Long value) {
      return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    @Override
    public Long decode(byte[] bytes) {
      return ByteBuffer.wrap(bytes).getLong();
    }
  }
}
