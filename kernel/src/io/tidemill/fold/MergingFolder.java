package io.tidemill.fold;

import org.apache.spark.sql.types.DataType;

/** Takes partial aggregates of another folder, made before a shuffle, in place of values. */
public final class MergingFolder extends Folder {
  private final Folder folder;

  public MergingFolder(Folder folder) {
    this.folder = folder;
  }

  @Override
  public DataType stateType() {
    return folder.stateType();
  }

  @Override
  public Object init() {
    return folder.init();
  }

  @Override
  public Object add(Object key, Object partial, Object aggregate) {
    return folder.merge(key, aggregate, partial);
  }

  @Override
  public Object result(Object aggregate) {
    return folder.result(aggregate);
  }
}
