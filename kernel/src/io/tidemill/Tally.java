package io.tidemill;

import io.tidemill.spark.Stateful;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** The smallest processor: a running total per group. It proves the road DataFrame, py4j, processor, DataFrame. */
public final class Tally extends StatefulProcessor<Integer, InternalRow, InternalRow> {
  private transient ValueState<Long> total;

  /** @param input rows of (group int, amount bigint); the result has (group int, total bigint) per touched group */
  public static Dataset<Row> apply(Dataset<Row> input) {
    StructType output = new StructType().add("group", DataTypes.IntegerType).add("total", DataTypes.LongType);
    return Stateful.transform(input, "group", new Tally(), output);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    total = getHandle().getValueState("total", Encoders.LONG(), TTLConfig.NONE());
  }

  @Override
  public Iterator<InternalRow> handleInputRows(Integer group, Iterator<InternalRow> rows, org.apache.spark.sql.streaming.TimerValues timers) {
    long sum = total.exists() ? total.get() : 0L;
    while (rows.hasNext()) {
      sum += rows.next().getLong(1);
    }
    total.update(sum);
    List<InternalRow> result = new ArrayList<>();
    result.add(new GenericInternalRow(new Object[] {group, sum}));
    return CollectionConverters.asScala(result.iterator());
  }
}
