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
    List<Expression> arguments = new ArrayList<>();
    columns.forEach(column -> arguments.add(ExpressionUtils.expression(column)));
    List<AbstractDataType> expected = new ArrayList<>(types);
    Class<?> home = Class.forName(Serdes.class.getPackageName() + "." + owner);
    return ExpressionUtils.column(
        new StaticInvoke(
            home, result, function, Stateful.seq(arguments), Stateful.seq(expected), true, true, true, Option.empty()));
  }

  public static Column convert(Column column, Converter converter) {
    return ExpressionUtils.column(new Converted(ExpressionUtils.expression(column), converter));
  }
}
