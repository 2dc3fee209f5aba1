package io.tidemill.node;

import io.tidemill.row.Rec;

/** Passes records on as they are: merged streams, a table read as a stream, a source. */
public final class Pass extends Node {
  public Pass(String name) {
    super(name);
  }

  @Override
  public void process(int slot, Rec record) {
    forward(record);
  }
}
