package io.tidemill.fold;

import io.tidemill.row.Evaluator;
import io.tidemill.spark.Stateful;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.MutableProjection;
import org.apache.spark.sql.catalyst.expressions.MutableProjection$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * Any aggregate of Spark (sum, avg, max_by, approx_count_distinct, ...), by Spark's own code for starting, updating,
 * merging and evaluating. The aggregate is one row: the buffers of all calls, those by expressions first.
 */
public final class SparkFolder extends Folder {
  private final StructType buffer;
  private final List<Expression> initial;
  private final List<Expression> update;
  private final List<Expression> merge;
  private final List<ImperativeCall> calls;
  private final Evaluator result;
  private final boolean combinable;
  private transient MutableProjection initialize;
  private transient MutableProjection updater;
  private transient MutableProjection merger;

  /**
   * @param update bound to the buffer's fields, then (key, value)
   * @param merge bound to the fields of two buffers
   * @param calls those that are no expressions; their fields follow those of the expressions
   * @param result bound to the field that holds the buffer, then one field per result of `calls`
   * @param combinable whether the order of values makes no difference to any of the calls
   */
  public SparkFolder(StructType buffer, List<Expression> initial, List<Expression> update, List<Expression> merge,
      List<ImperativeCall> calls, Evaluator result, boolean combinable) {
    this.buffer = buffer;
    this.initial = new ArrayList<>(initial);
    this.update = new ArrayList<>(update);
    this.merge = new ArrayList<>(merge);
    this.calls = new ArrayList<>(calls);
    this.result = result;
    this.combinable = combinable;
  }

  @Override
  public DataType stateType() {
    return buffer;
  }

  @Override
  public Object init() {
    if (initialize == null) {
      initialize = projection(initial);
    }
    InternalRow row = run(initialize, InternalRow.empty(), null);
    calls.forEach(call -> call.initialize(row));
    return row;
  }

  @Override
  public Object add(Object key, Object value, Object aggregate) {
    if (updater == null) {
      updater = projection(update);
    }
    InternalRow input = new GenericInternalRow(new Object[] {key, value});
    InternalRow row = run(updater, new JoinedRow((InternalRow) aggregate, input), (InternalRow) aggregate);
    calls.forEach(call -> call.update(row, input));
    return row;
  }

  @Override
  public Object merge(Object key, Object left, Object right) {
    if (merger == null) {
      merger = projection(merge);
    }
    InternalRow row = run(merger, new JoinedRow((InternalRow) left, (InternalRow) right), (InternalRow) left);
    calls.forEach(call -> call.merge(row, (InternalRow) right));
    return row;
  }

  @Override
  public boolean isCombinable() {
    return combinable;
  }

  @Override
  public Object result(Object aggregate) {
    Object[] fields = new Object[1 + calls.size()];
    fields[0] = aggregate;
    // Calls change the row they evaluate, and one that comes from a store cannot be changed.
    InternalRow own = calls.isEmpty() ? null : changeable((InternalRow) aggregate, 0);
    for (int i = 0; i < calls.size(); i++) {
      fields[i + 1] = calls.get(i).result(own);
    }
    return result.eval(fields);
  }

  private static MutableProjection projection(List<Expression> expressions) {
    MutableProjection projection = MutableProjection$.MODULE$.create(Stateful.seq(expressions));
    projection.initialize(0);
    return projection;
  }

  /** A row with the fields of another from one on; null has none. */
  private GenericInternalRow changeable(InternalRow row, int from) {
    GenericInternalRow copy = new GenericInternalRow(buffer.fields().length);
    for (int i = from; row != null && i < buffer.fields().length; i++) {
      copy.update(i, row.isNullAt(i) ? null : row.get(i, buffer.fields()[i].dataType()));
    }
    return copy;
  }

  /** @param before what the fields beyond the expressions are copied from, null for nothing */
  private InternalRow run(MutableProjection projection, InternalRow input, InternalRow before) {
    GenericInternalRow target = changeable(before, initial.size());
    projection.target(target).apply(input);
    return target;
  }
}
