package io.tidemill.node;

import io.tidemill.row.Evaluator;
import io.tidemill.row.Rec;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** One record for each element of an array: new values, or pairs of new key and value. */
public final class FlatMap extends Node {
  private final Evaluator elements;
  private final boolean pairs;

  public FlatMap(String name, Evaluator elements, boolean pairs) {
    super(name);
    this.elements = elements;
    this.pairs = pairs;
  }

  @Override
  public void process(int slot, Rec record) {
    ArrayData array = (ArrayData) task.eval(elements, record, record.value());
    if (array == null) {
      throw new IllegalArgumentException(
          "`" + name + "` returned null instead of an array; return an empty array to drop a record");
    }
    DataType type = ((ArrayType) elements.type()).elementType();
    for (int i = 0; i < array.numElements(); i++) {
      Object element = array.isNullAt(i) ? null : array.get(i, type);
      forward(pairs ? pair(record, (InternalRow) element, (StructType) type) : record.withValue(element));
    }
  }

  private Rec pair(Rec record, InternalRow pair, StructType type) {
    if (pair == null) {
      throw new IllegalArgumentException("`" + name + "` returned null among its pairs of key and value");
    }
    Object key = pair.isNullAt(0) ? null : pair.get(0, type.fields()[0].dataType());
    Object value = pair.isNullAt(1) ? null : pair.get(1, type.fields()[1].dataType());
    return new Rec(key, value, record.time(), record.headers());
  }
}
