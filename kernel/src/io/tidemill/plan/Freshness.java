package io.tidemill.plan;

import io.tidemill.serde.Converted;
import io.tidemill.spark.Stateful;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;

/**
 * Which columns of a plan have values that can be kept as they are.
 *
 * The others may point into a buffer, or be an object, that the next row is written into. What is not known to be new for
 * each row is taken for one of them.
 */
final class Freshness {
  private static final String PACKAGE = "org.apache.spark.sql.catalyst.expressions.";
  private static final String OUR_OWN = "io.tidemill.serde.";
  /** Expressions of Spark that give a new value, or one that they were given. */
  private static final Set<String> KNOWN =
      Set.of("Alias", "CaseWhen", "Coalesce", "CreateArray", "CreateNamedStruct", "GetStructField", "If", "Literal");

  private final Set<ExprId> fresh = new HashSet<>();

  private Freshness() {}

  /** Of each column, whether its values must be copied to be kept. */
  static boolean[] staleColumns(SparkPlan plan) {
    Freshness found = new Freshness();
    found.walk(plan);
    List<Attribute> columns = Stateful.list(plan.output());
    boolean[] stale = new boolean[columns.size()];
    for (int i = 0; i < stale.length; i++) {
      stale[i] = !found.isFresh(columns.get(i));
    }
    return stale;
  }

  private void walk(SparkPlan plan) {
    if (plan instanceof ProjectExec project) {
      walk(project.child());
      for (NamedExpression column : Stateful.list(project.projectList())) {
        if (isFresh((Expression) column)) {
          fresh.add(column.exprId());
        }
      }
    } else if (plan instanceof FilterExec filter) {
      walk(filter.child());
    }
  }

  private boolean isFresh(Expression expression) {
    if (!mayChange(expression.dataType())) {
      return true;
    }
    if (expression instanceof Attribute column) {
      return fresh.contains(column.exprId());
    }
    boolean isKnown = expression instanceof StaticInvoke call ? call.staticObject().getName().startsWith(OUR_OWN)
        : expression instanceof Converted value ? value.isFresh()
        : isListed(expression.getClass().getName());
    return isKnown && Stateful.list(expression.children()).stream().allMatch(this::isFresh);
  }

  private static boolean isListed(String name) {
    return name.startsWith(PACKAGE) && KNOWN.contains(name.substring(PACKAGE.length()));
  }

  /** Whether values of a type can be views of something else; bytes are copied when they are taken out of a row. */
  private static boolean mayChange(DataType type) {
    return type instanceof StructType || type instanceof ArrayType || type instanceof MapType || type instanceof StringType;
  }
}
