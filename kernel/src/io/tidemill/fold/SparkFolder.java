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
 * Any declarative aggregate of Spark (sum, avg, max_by, ...), by Spark's own expressions for starting, updating,
 * merging and evaluating. The aggregate is Spark's buffer row.
 */
public final class SparkFolder extends Folder {
  private final StructType buffer;
  private final List<Expression> initial;
  private final List<Expression> update;
  private final List<Expression> merge;
  private final Evaluator result;
  private transient MutableProjection initialize;
  private transient MutableProjection updater;
  private transient MutableProjection merger;

  /**
   * @param update bound to the buffer's fields, then (key, value)
   * @param merge bound to the fields of two buffers
   * @param result bound to the one field that holds the buffer
   */
  public SparkFolder(StructType buffer, List<Expression> initial, List<Expression> update, List<Expression> merge, Evaluator result) {
    this.buffer = buffer;
    this.initial = new ArrayList<>(initial);
    this.update = new ArrayList<>(update);
    this.merge = new ArrayList<>(merge);
    this.result = result;
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
    return run(initialize, InternalRow.empty());
  }

  @Override
  public Object add(Object key, Object value, Object aggregate) {
    if (updater == null) {
      updater = projection(update);
    }
    return run(updater, new JoinedRow((InternalRow) aggregate, new GenericInternalRow(new Object[] {key, value})));
  }

  @Override
  public Object merge(Object key, Object left, Object right) {
    if (merger == null) {
      merger = projection(merge);
    }
    return run(merger, new JoinedRow((InternalRow) left, (InternalRow) right));
  }

  @Override
  public Object result(Object aggregate) {
    return result.eval(aggregate);
  }

  private static MutableProjection projection(List<Expression> expressions) {
    MutableProjection projection = MutableProjection$.MODULE$.create(Stateful.seq(expressions));
    projection.initialize(0);
    return projection;
  }

  private InternalRow run(MutableProjection projection, InternalRow input) {
    GenericInternalRow target = new GenericInternalRow(buffer.fields().length);
    projection.target(target).apply(input);
    return target;
  }
}
