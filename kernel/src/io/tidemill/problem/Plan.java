package io.tidemill.problem;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;

/** What a program does with a record that one of its steps cannot process. */
public final class Plan implements Serializable {
  private final boolean goesOn;
  private final int port;
  private final String application;
  private final Map<String, String[]> declared = new HashMap<>();

  private Plan(boolean goesOn, int port, String application) {
    this.goesOn = goesOn;
    this.port = port;
    this.application = application;
  }

  /** Fails with the record's place. */
  public static Plan fail() {
    return new Plan(false, -1, "");
  }

  /** Sends the record out by a port of its own, with the reason in its headers. */
  public static Plan goOn(int port, String application) {
    return new Plan(true, port, application);
  }

  /** Says how the user knows a step, and where he declared it. */
  public void declare(String step, String node, String place) {
    declared.put(step, new String[] {node, place});
  }

  public boolean goesOn() {
    return goesOn;
  }

  public int port() {
    return port;
  }

  public String application() {
    return application;
  }

  public String node(String step) {
    return declared.containsKey(step) ? declared.get(step)[0] : step;
  }

  public String place(String step) {
    return declared.containsKey(step) ? declared.get(step)[1] : null;
  }
}
