package io.tidemill.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.StringSplit;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.runtime.AbstractPartialFunction;

/**
 * `split` at a plain text: over bytes, with parts that point into the whole.
 *
 * Spark decodes the text, runs a regular expression and encodes every part anew, also where the pattern is one space.
 */
public final class PlainSplit extends AbstractPartialFunction<Expression, Expression> {
  private static final String REGEX = "\\.[]{}()<>*+-=!?^$|";

  private PlainSplit() {}

  /** The expression with its plain splits replaced. What runs it must not change the bytes of its input. */
  public static Expression in(Expression expression) {
    return expression.transformUp(new PlainSplit());
  }

  @Override
  public boolean isDefinedAt(Expression expression) {
    return expression instanceof StringSplit split
        && split.str().dataType().equals(DataTypes.StringType)
        && split.regex() instanceof Literal regex && regex.value() instanceof UTF8String pattern && isPlain(pattern)
        && split.limit() instanceof Literal limit && limit.value() instanceof Integer most && most <= 0;
  }

  @Override
  @SuppressWarnings("unchecked")
  public <A extends Expression, B> B applyOrElse(A expression, scala.Function1<A, B> otherwise) {
    if (!isDefinedAt(expression)) {
      return otherwise.apply(expression);
    }
    StringSplit split = (StringSplit) (Expression) expression;
    return (B) new StaticInvoke(PlainSplit.class, split.dataType(), "split",
        Stateful.seq(List.of(split.str(), split.regex())), Stateful.seq(List.<AbstractDataType>of()),
        true, true, true, Option.empty());
  }

  private static boolean isPlain(UTF8String pattern) {
    return pattern.numBytes() > 0 && pattern.toString().chars().noneMatch(c -> REGEX.indexOf(c) >= 0);
  }

  /** The parts of a text between all occurrences of a separator, empty ones included. */
  public static ArrayData split(UTF8String text, UTF8String separator) {
    List<UTF8String> parts = new ArrayList<>();
    Object bytes = text.getBaseObject();
    long begin = text.getBaseOffset();
    long end = begin + text.numBytes();
    int width = separator.numBytes();
    byte first = separator.getByte(0);
    long from = begin;
    for (long at = begin; at <= end - width; at++) {
      if (Platform.getByte(bytes, at) == first && (width == 1 || isAt(bytes, at, separator))) {
        parts.add(UTF8String.fromAddress(bytes, from, (int) (at - from)));
        at += width - 1;
        from = at + 1;
      }
    }
    parts.add(UTF8String.fromAddress(bytes, from, (int) (end - from)));
    return new GenericArrayData(parts.toArray());
  }

  private static boolean isAt(Object bytes, long at, UTF8String separator) {
    for (int i = 1; i < separator.numBytes(); i++) {
      if (Platform.getByte(bytes, at + i) != separator.getByte(i)) {
        return false;
      }
    }
    return true;
  }
}
