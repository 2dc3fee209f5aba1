package io.tidemill.problem;

/** What a step threw, on its way up to whoever knows the record; the innermost step that saw it keeps its name. */
public final class StepFailure extends RuntimeException {
  public final String node;

  private StepFailure(String node, Throwable cause) {
    super(null, cause, false, false);
    this.node = node;
  }

  public static StepFailure of(String node, RuntimeException error) {
    return error instanceof StepFailure inner ? inner : new StepFailure(node, error);
  }
}
