package io.tidemill.spark;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.jdk.javaapi.CollectionConverters;

/** Looks for Python functions among the columns of a plan. */
public final class PythonCalls {
  private PythonCalls() {}

  /** The name of the first Python function a frame calls, null if it calls none. */
  public static String first(Dataset<?> frame) {
    return in(((org.apache.spark.sql.classic.Dataset<?>) frame).queryExecution().analyzed());
  }

  private static String in(LogicalPlan plan) {
    for (Expression expression : CollectionConverters.asJava(plan.expressions())) {
      String found = in(expression);
      if (found != null) {
        return found;
      }
    }
    for (LogicalPlan child : CollectionConverters.asJava(plan.children())) {
      String found = in(child);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  private static String in(Expression expression) {
    if (expression instanceof PythonUDF call) {
      return call.name();
    }
    for (Expression child : CollectionConverters.asJava(expression.children())) {
      String found = in(child);
      if (found != null) {
        return found;
      }
    }
    return null;
  }
}
