package io.tidemill.node;

import io.tidemill.row.Rec;
import io.tidemill.task.Task;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** One step of a program. It is serialised with the query and opened once per task. */
public abstract class Node implements Serializable {
  public final String name;
  private final List<int[]> children = new ArrayList<>();
  protected transient Task task;

  protected Node(String name) {
    this.name = name;
  }

  public final void addChild(int node, int slot) {
    children.add(new int[] {node, slot});
  }

  /** The state this node keeps. */
  public List<String> stores() {
    return List.of();
  }

  public void open(Task owner) {
    task = owner;
  }

  /** @param slot which input of this node the record came in by */
  public abstract void process(int slot, Rec record);

  /** The batch is over: hand on what was held back for it. */
  public void flush() {}

  /** Write changed state down. */
  public void save() {}

  protected final void forward(Rec record) {
    for (int[] child : children) {
      task.send(child[0], child[1], record);
    }
  }

  /** Forwards to one child only, by its position among the children. */
  protected final void forwardTo(int position, Rec record) {
    int[] child = children.get(position);
    task.send(child[0], child[1], record);
  }
}
