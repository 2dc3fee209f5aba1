package io.tidemill.plan;

import io.tidemill.spark.Stateful;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Nondeterministic;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeAndComment;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SerializeFromObject;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.BufferedRowIterator;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import scala.Enumeration;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Rows made of other rows, one by one, by code that is generated when the query is declared.
 *
 * Spark plans every batch anew: it optimises all expressions again and writes the same code for them. For small batches
 * that takes longer than the records do, and it keeps the JVM's compilers busy. Here the planner sees one node.
 */
public final class FixedRows implements RowMapper {
  /** What is another value in each batch, or cannot be generated: left to Spark. */
  private static final List<Enumeration.Value> CHANGING = List.of(
      TreePattern.CURRENT_LIKE(), TreePattern.PYTHON_UDF(), TreePattern.PLAN_EXPRESSION());

  private final CodeAndComment code;
  private final Object[] references;

  private FixedRows(CodeAndComment code, Object[] references) {
    this.code = code;
    this.references = references;
  }

  /**
   * The same rows, by one node in place of all projections and filters at the end; or as they are if that cannot be.
   *
   * @param form the name of a {@link RowForm}; rows that are left to Spark are binary in any case
   */
  public static Dataset<Row> apply(Dataset<Row> rows, String form) {
    var dataset = (org.apache.spark.sql.classic.Dataset<Row>) rows;
    List<LogicalPlan> steps = new ArrayList<>();
    LogicalPlan input = dataset.queryExecution().analyzed();
    while (isRowByRow(input)) {
      steps.add(input);
      input = Stateful.list(input.children()).get(0);
    }
    if (steps.isEmpty() || !steps.stream().allMatch(FixedRows::isFixed)) {
      return rows;
    }
    TaskStrategy.register(dataset.sparkSession());
    SparkPlan planned = planned(dataset.sparkSession(), steps, new Standin(input.output()));
    if (!(planned instanceof WholeStageCodegenExec stage) || !readsOnly(stage.child())) {
      return rows;
    }
    RowForm wanted = RowForm.valueOf(form);
    var generated = (wanted == RowForm.BINARY ? stage : unwritten(stage, wanted)).doCodeGen();
    if (!runs(generated._2(), dataset.sparkSession().sessionState().conf().hugeMethodLimit())) {
      return rows;
    }
    Object[] references = CollectionConverters.asJava(generated._1().references()).toArray();
    LogicalPlan plan = new TaskMap(new FixedRows(generated._2(), references), stage.output(), input);
    return org.apache.spark.sql.classic.Dataset$.MODULE$.ofRows(dataset.sparkSession(), plan);
  }

  @Override
  public boolean givesBinaryRows() {
    return true;
  }

  @Override
  public Iterator<InternalRow> map(Iterator<InternalRow> rows) {
    var made = (BufferedRowIterator) CodeGenerator.compile(code)._1().generate(references);
    made.init(TaskContext.getPartitionId(), new scala.collection.Iterator[] {CollectionConverters.asScala(rows)});
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        try {
          return made.hasNext();
        } catch (java.io.IOException e) {
          throw new java.io.UncheckedIOException(e);
        }
      }

      @Override
      public InternalRow next() {
        return made.next();
      }
    };
  }

  @Override
  public String toString() {
    return "generated code";
  }

  private static WholeStageCodegenExec unwritten(WholeStageCodegenExec stage, RowForm form) {
    SparkPlan rows = stage.child();
    boolean[] copied =
        form == RowForm.KEPT ? Freshness.staleColumns(rows) : new boolean[Stateful.list(rows.output()).size()];
    return new WholeStageCodegenExec(new PlainRows(rows, copied), stage.codegenStageId());
  }

  private static boolean isRowByRow(LogicalPlan plan) {
    return plan instanceof Project || plan instanceof Filter || plan instanceof Generate || plan instanceof SerializeFromObject;
  }

  private static boolean isFixed(LogicalPlan step) {
    for (Expression expression : Stateful.list(step.expressions())) {
      if (CHANGING.stream().anyMatch(expression::containsPattern) || isRandom(expression)) {
        return false;
      }
    }
    return true;
  }

  /** Not whatever Spark may not move, which our own checks are too, but what is to have a seed for each batch. */
  private static boolean isRandom(Expression expression) {
    return expression instanceof Nondeterministic || Stateful.list(expression.children()).stream().anyMatch(FixedRows::isRandom);
  }

  private static SparkPlan planned(SparkSession session, List<LogicalPlan> steps, LogicalPlan input) {
    LogicalPlan plan = input;
    for (int i = steps.size() - 1; i >= 0; i--) {
      plan = (LogicalPlan) steps.get(i).withNewChildren(Stateful.seq(List.of(plan)));
    }
    return org.apache.spark.sql.classic.Dataset$.MODULE$.ofRows(session, plan).queryExecution().executedPlan();
  }

  /** Whether the JVM takes the code, and compiles it further; Spark has other ways for code that is too large. */
  private static boolean runs(CodeAndComment code, int largestMethod) {
    try {
      return CodeGenerator.compile(code)._2().maxMethodCodeSize() <= largestMethod;
    } catch (Exception tooLarge) {
      return false;
    }
  }

  /** Whether all of a plan is in the generated code, down to the rows that come in. */
  private static boolean readsOnly(SparkPlan plan) {
    if (plan instanceof InputAdapter adapter) {
      return adapter.child() instanceof StandinExec;
    }
    List<SparkPlan> children = Stateful.list(plan.children());
    return children.size() == 1 && readsOnly(children.get(0));
  }
}
