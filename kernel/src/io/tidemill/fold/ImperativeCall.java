package io.tidemill.fold;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;

/**
 * An aggregate of Spark that changes its buffer by code of its own, such as approx_count_distinct or collect_list.
 *
 * Its fields lie in the shared buffer row from `offset` on. One that aggregates into an object of its own keeps it
 * there serialised.
 */
public final class ImperativeCall implements Serializable {
  private final ImperativeAggregate function;
  private final int offset;

  /** @param function with its arguments bound to (key, value) */
  public ImperativeCall(ImperativeAggregate function, int offset) {
    this.function = function.withNewMutableAggBufferOffset(offset).withNewInputAggBufferOffset(offset);
    this.offset = offset;
  }

  void initialize(InternalRow buffer) {
    function.initialize(buffer);
    toBytes(buffer);
  }

  void update(InternalRow buffer, InternalRow input) {
    toObject(buffer);
    function.update(buffer, input);
    toBytes(buffer);
  }

  void merge(InternalRow buffer, InternalRow other) {
    toObject(buffer);
    function.merge(buffer, other); // expects the other buffer in its serialised form
    toBytes(buffer);
  }

  /** @param buffer is of no further use to this call afterwards */
  Object result(InternalRow buffer) {
    toObject(buffer);
    return function.eval(buffer);
  }

  @SuppressWarnings("unchecked")
  private void toObject(InternalRow buffer) {
    if (function instanceof TypedImperativeAggregate) {
      var typed = (TypedImperativeAggregate<Object>) function;
      buffer.update(offset, typed.deserialize(buffer.getBinary(offset)));
    }
  }

  private void toBytes(InternalRow buffer) {
    if (function instanceof TypedImperativeAggregate<?> typed) {
      typed.serializeAggregateBufferInPlace(buffer);
      buffer.update(offset, buffer.getBinary(offset).clone()); // Spark may use the array again
    }
  }
}
