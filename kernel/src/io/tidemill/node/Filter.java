package io.tidemill.node;

import io.tidemill.row.Evaluator;
import io.tidemill.row.Rec;

/** Passes records of which the predicate holds (or, negated, does not hold); null counts as false. */
public final class Filter extends Node {
  private final Evaluator predicate;
  private final boolean negate;

  public Filter(String name, Evaluator predicate, boolean negate) {
    super(name);
    this.predicate = predicate;
    this.negate = negate;
  }

  @Override
  public void process(int slot, Rec record) {
    if (task.test(predicate, record, record.value()) != negate) {
      forward(record);
    }
  }
}
