package io.tidemill.serde;

import io.tidemill.spark.Stateful;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import scala.Option;

/** Where Python gets its Columns from. */
public final class Serdes {
  private Serdes() {}

  /** A static function of {@link Numbers} or {@link Keys} over columns; null wherever one of them is. */
  public static Column call(String owner, String function, DataType result, List<Column> columns, List<DataType> types)
      throws ClassNotFoundException {
    return invoke(owner, function, result, columns, types, true);
  }

  /** As {@link #call}, for a function that must be called where it stands: Spark may not move it or leave it out. */
  public static Column callHere(String owner, String function, DataType result, List<Column> columns, List<DataType> types)
      throws ClassNotFoundException {
    return invoke(owner, function, result, columns, types, false);
  }

  private static Column invoke(
      String owner, String function, DataType result, List<Column> columns, List<DataType> types, boolean deterministic)
      throws ClassNotFoundException {
    List<Expression> arguments = new ArrayList<>();
    columns.forEach(column -> arguments.add(ExpressionUtils.expression(column)));
    List<AbstractDataType> expected = new ArrayList<>(types);
    Class<?> home = Class.forName(Serdes.class.getPackageName() + "." + owner);
    return ExpressionUtils.column(
        new StaticInvoke(
            home, result, function, Stateful.seq(arguments), Stateful.seq(expected), true, true, deterministic, Option.empty()));
  }

  public static Column convert(Column column, Converter converter) {
    return ExpressionUtils.column(new Converted(ExpressionUtils.expression(column), converter));
  }
}
