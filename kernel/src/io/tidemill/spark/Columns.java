package io.tidemill.spark;

import io.tidemill.fold.ImperativeCall;
import io.tidemill.fold.SparkFolder;
import io.tidemill.row.Evaluator;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions$;
import org.apache.spark.sql.catalyst.optimizer.RewriteWithExpression$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.runtime.AbstractPartialFunction;

/** Takes the expressions a user's function made out of a DataFrame, ready to run inside a program. */
public final class Columns {
  private Columns() {}

  /**
   * @param selected a frame of as many columns as the function has arguments, with the function's result selected
   * @return evaluators of the selected columns, given the frame's columns in order
   */
  public static List<Evaluator> evaluators(Dataset<Row> selected) {
    LogicalPlan plan = prepared(selected);
    while (plan instanceof Project outer && outer.child() instanceof Project inner && refersOnlyTo(outer, inner)) {
      plan = merged(outer, inner);
    }
    if (!(plan instanceof Project project)) {
      throw new IllegalArgumentException("not a plain expression: " + plan.nodeName());
    }
    List<Attribute> inputs = Stateful.list(project.child().output());
    List<Evaluator> evaluators = new ArrayList<>();
    for (NamedExpression named : Stateful.list(project.projectList())) {
      evaluators.add(new Evaluator(PlainSplit.in(bind(unaliased((Expression) named), inputs, 0)), inputs.size()));
    }
    return evaluators;
  }

  /** Whether the selected columns call a Python function. */
  public static boolean callsPython(Dataset<Row> selected) {
    LogicalPlan plan = ((org.apache.spark.sql.classic.Dataset<Row>) selected).queryExecution().analyzed();
    return Stateful.list(plan.expressions()).stream().anyMatch(e -> e.exists(x -> x instanceof PythonUDF));
  }

  /** @param aggregated a frame of (key, value) with one aggregate Column applied to all of it */
  public static SparkFolder folder(Dataset<Row> aggregated) {
    if (!(prepared(aggregated) instanceof Aggregate aggregate)) {
      throw new IllegalArgumentException("not an aggregate");
    }
    List<Attribute> inputs = Stateful.list(aggregate.child().output());
    Expression whole = unaliased((Expression) Stateful.list(aggregate.aggregateExpressions()).get(0));
    Map<String, AggregateExpression> calls = new LinkedHashMap<>();
    whole.foreach(expression -> {
      if (expression instanceof AggregateExpression call) {
        calls.putIfAbsent(call.resultId().toString(), call);
      }
      return null;
    });
    List<Attribute> buffer = new ArrayList<>();
    List<Attribute> other = new ArrayList<>();
    List<Expression> initial = new ArrayList<>();
    List<Expression> update = new ArrayList<>();
    List<Expression> merge = new ArrayList<>();
    Map<String, Expression> results = new LinkedHashMap<>();
    List<AggregateExpression> imperative = new ArrayList<>();
    for (Map.Entry<String, AggregateExpression> entry : calls.entrySet()) {
      AggregateExpression call = entry.getValue();
      if (call.isDistinct()) {
        throw new UnsupportedOperationException(call.sql());
      }
      if (!(call.aggregateFunction() instanceof DeclarativeAggregate function)) {
        imperative.add(call);
        continue;
      }
      List<AttributeReference> own = Stateful.list(function.aggBufferAttributes());
      buffer.addAll(own);
      other.addAll(Stateful.list(function.inputAggBufferAttributes()));
      initial.addAll(Stateful.list(function.initialValues()));
      List<Expression> updates = Stateful.list(function.updateExpressions());
      for (int i = 0; i < updates.size(); i++) {
        update.add(call.filter().isEmpty() ? updates.get(i) : new If(call.filter().get(), updates.get(i), own.get(i)));
      }
      merge.addAll(Stateful.list(function.mergeExpressions()));
      results.put(entry.getKey(), function.evaluateExpression());
    }
    List<Attribute> declared = List.copyOf(buffer);
    List<ImperativeCall> others = new ArrayList<>();
    for (AggregateExpression call : imperative) {
      if (!call.filter().isEmpty()) {
        throw new UnsupportedOperationException(call.sql());
      }
      ImperativeAggregate function = (ImperativeAggregate) bind(call.aggregateFunction(), inputs, 0);
      others.add(new ImperativeCall(function, buffer.size()));
      buffer.addAll(Stateful.list(function.aggBufferAttributes()));
      results.put(call.resultId().toString(), new BoundReference(others.size(), function.dataType(), true));
    }
    StructType type = new StructType();
    for (int i = 0; i < buffer.size(); i++) {
      type = type.add(new StructField("b" + i, buffer.get(i).dataType(), true, buffer.get(i).metadata()));
    }
    List<Attribute> updateInputs = concat(buffer, inputs);
    List<Attribute> mergeInputs = new ArrayList<>(buffer);
    mergeInputs.addAll(other);
    Expression result = replaceCalls(whole, results);
    boolean combinable = calls.values().stream().allMatch(Columns::isCombinable);
    return new SparkFolder(type, bindAll(initial, List.of()), bindAll(update, updateInputs), bindAll(merge, mergeInputs),
        others, new Evaluator(bindToStruct(result, declared, type), 1 + others.size()), combinable);
  }

  /** The type an aggregate Column has. */
  public static DataType resultType(Dataset<Row> aggregated) {
    return aggregated.schema().fields()[0].dataType();
  }

  /** Sums of floating-point numbers are left out: their last digits depend on the order. */
  private static boolean isCombinable(AggregateExpression call) {
    var function = call.aggregateFunction();
    DataType type = function.dataType();
    boolean exact = !type.equals(DataTypes.DoubleType) && !type.equals(DataTypes.FloatType);
    return function instanceof Count || function instanceof Min || function instanceof Max || (function instanceof Sum && exact);
  }

  private static LogicalPlan prepared(Dataset<Row> frame) {
    LogicalPlan analyzed = ((org.apache.spark.sql.classic.Dataset<Row>) frame).queryExecution().analyzed();
    return RewriteWithExpression$.MODULE$.apply(ReplaceExpressions$.MODULE$.apply(analyzed));
  }

  private static boolean refersOnlyTo(Project outer, Project inner) {
    return Stateful.list(inner.projectList()).stream().allMatch(e -> e instanceof Alias || e instanceof AttributeReference) && outer != null;
  }

  private static Project merged(Project outer, Project inner) {
    List<NamedExpression> definitions = Stateful.list(inner.projectList());
    List<NamedExpression> list = new ArrayList<>();
    for (NamedExpression named : Stateful.list(outer.projectList())) {
      list.add((NamedExpression) replaceAttributes((Expression) named, attribute -> {
        for (NamedExpression definition : definitions) {
          if (definition.exprId().equals(attribute.exprId())) {
            return unaliased((Expression) definition);
          }
        }
        return attribute;
      }));
    }
    return new Project(Stateful.seq(list), inner.child());
  }

  private static Expression unaliased(Expression expression) {
    return expression instanceof Alias alias ? alias.child() : expression;
  }

  private static List<Expression> bindAll(List<Expression> expressions, List<Attribute> inputs) {
    List<Expression> bound = new ArrayList<>();
    expressions.forEach(expression -> bound.add(bind(expression, inputs, 0)));
    return bound;
  }

  private static Expression bind(Expression expression, List<Attribute> inputs, int offset) {
    return replaceAttributes(expression, attribute -> {
      int at = position(attribute, inputs);
      return new BoundReference(at + offset, attribute.dataType(), true);
    });
  }

  private static Expression bindToStruct(Expression expression, List<Attribute> fields, StructType type) {
    return replaceAttributes(expression, attribute -> new GetStructField(
        new BoundReference(0, type, true), position(attribute, fields), Option.empty()));
  }

  private static int position(AttributeReference attribute, List<Attribute> inputs) {
    for (int i = 0; i < inputs.size(); i++) {
      if (inputs.get(i).exprId().equals(attribute.exprId())) {
        return i;
      }
    }
    throw new IllegalArgumentException("`" + attribute.name() + "` is not an argument of the function");
  }

  private static List<Attribute> concat(List<Attribute> first, List<Attribute> second) {
    List<Attribute> all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }

  private static Expression replaceCalls(Expression whole, Map<String, Expression> results) {
    return whole.transformDown(new AbstractPartialFunction<Expression, Expression>() {
      @Override
      public boolean isDefinedAt(Expression expression) {
        return expression instanceof AggregateExpression;
      }

      @Override
      @SuppressWarnings("unchecked")
      public <A extends Expression, B> B applyOrElse(A expression, scala.Function1<A, B> otherwise) {
        return isDefinedAt(expression)
            ? (B) results.get(((AggregateExpression) (Expression) expression).resultId().toString())
            : otherwise.apply(expression);
      }
    });
  }

  private static Expression replaceAttributes(
      Expression expression, java.util.function.Function<AttributeReference, Expression> replacement) {
    return expression.transformUp(new AbstractPartialFunction<Expression, Expression>() {
      @Override
      public boolean isDefinedAt(Expression candidate) {
        return candidate instanceof AttributeReference;
      }

      @Override
      @SuppressWarnings("unchecked")
      public <A extends Expression, B> B applyOrElse(A candidate, scala.Function1<A, B> otherwise) {
        return isDefinedAt(candidate)
            ? (B) replacement.apply((AttributeReference) (Expression) candidate)
            : otherwise.apply(candidate);
      }
    });
  }
}
