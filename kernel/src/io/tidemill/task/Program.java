package io.tidemill.task;

import io.tidemill.node.Node;
import io.tidemill.problem.Plan;
import io.tidemill.row.Evaluator;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a task runs: nodes in an order where parents come first, their edges, and where records enter. */
public final class Program implements Serializable {
  static final String CLOCKS = "tidemill.clocks";
  /** The key beside the clocks under which the number of rows is kept. */
  static final byte[] ROWS = "tidemill.rows".getBytes(StandardCharsets.UTF_8);

  private final List<Node> nodes = new ArrayList<>();
  private final List<Integer> entries = new ArrayList<>();
  private final Set<Integer> sources = new HashSet<>();
  private final Map<String, Exposed> exposed = new HashMap<>();
  /** Not with its copies: what counts belongs to one run of a task. */
  private final transient Dropped dropped;
  private final Plan problems;
  private final int ports;

  /**
   * @param problems what to do with a record that cannot be processed
   * @param ports how many lead out
   */
  public Program(Dropped dropped, Plan problems, int ports) {
    this.dropped = dropped;
    this.ports = ports;
    this.problems = problems;
  }

  /** Adds a node; returns its index. */
  public int add(Node node) {
    nodes.add(node);
    return nodes.size() - 1;
  }

  /** Sends what a node forwards to a child, at one of the child's inputs. */
  public void connect(int parent, int child, int slot) {
    nodes.get(parent).addChild(child, slot);
  }

  /** Makes a node the entry of the next input port; returns the port. */
  public int enter(int node) {
    entries.add(node);
    return entries.size() - 1;
  }

  /** As {@link #enter}, for records as they were read from a topic. */
  public int enterFromTopic(int node) {
    sources.add(entries.size());
    return enter(node);
  }

  boolean isFromTopic(int port) {
    return sources.contains(port);
  }

  int ports() {
    return ports;
  }

  Plan problems() {
    return problems;
  }

  /**
   * Lets barriers ask for the rows of a table.
   *
   * @param key turns a key into the bytes of the answer
   * @param value turns a value into the bytes of the answer
   */
  public void expose(String store, int node, Evaluator key, Evaluator value) {
    exposed.put(store, new Exposed(node, key, value));
  }

  Exposed exposed(String store) {
    return exposed.get(store);
  }

  /** A table that can be looked into. */
  record Exposed(int node, Evaluator key, Evaluator value) implements Serializable {}

  public Set<String> stores() {
    Set<String> names = new LinkedHashSet<>();
    names.add(CLOCKS);
    nodes.forEach(node -> names.addAll(node.stores()));
    return names;
  }

  /** Whether no node keeps anything from one record to another. */
  public boolean isStateless() {
    return nodes.stream().allMatch(node -> node.stores().isEmpty());
  }

  Node[] nodes() {
    return nodes.toArray(new Node[0]);
  }

  int[] entries() {
    return entries.stream().mapToInt(Integer::intValue).toArray();
  }

  Dropped dropped() {
    return dropped;
  }
}
