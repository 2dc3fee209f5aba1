package io.tidemill.node;

import io.tidemill.row.Evaluator;
import io.tidemill.row.Rec;

/** Computes a new key, a new value, or both; null for an evaluator keeps the old one. */
public final class MapRecord extends Node {
  private final Evaluator key;
  private final Evaluator value;

  public MapRecord(String name, Evaluator key, Evaluator value) {
    super(name);
    this.key = key;
    this.value = value;
  }

  @Override
  public void process(int slot, Rec record) {
    Object newKey = key == null ? record.key() : task.eval(key, record, record.value());
    Object newValue = value == null ? record.value() : task.eval(value, record, record.value());
    forward(new Rec(newKey, newValue, record.time(), record.headers()));
  }
}
