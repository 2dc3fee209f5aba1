package io.tidemill.state;

import io.tidemill.problem.StateFailure;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl;
import org.apache.spark.sql.execution.streaming.state.PrefixKeyScanStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A store in Spark's state store, byte for byte as a {@code MapState<byte[], byte[]>} of a task keeps it.
 *
 * Spark's own handle generates nine projections each time it is made, which is for every store, task and batch, and
 * passes each key through three of them. Tasks and keys of one form need none.
 */
public final class FamilyBackend implements Backend {
  private static final StructType GROUP = new StructType().add("value", DataTypes.IntegerType, false);
  private static final StructType VALUE = new StructType().add("value", DataTypes.BinaryType);
  private static final StructType KEY = new StructType().add("key", GROUP).add("userKey", VALUE);
  private static final int PREFIX_BYTES = 4 * Long.BYTES;
  private static final int KEY_BYTES = 7 * Long.BYTES;
  private static final int VALUE_BYTES = 2 * Long.BYTES;
  private static final Field STORE = field("store");
  private static final Field METRICS = field("metrics");

  private final StateStore store;
  private final String family;
  private final int task;
  private final RowCount rows;
  private final KnownKeys known;
  private final SQLMetric updated;
  private final SQLMetric removed;

  private FamilyBackend(
      StateStore store, String family, int task, RowCount rows, KnownKeys known, Map<String, SQLMetric> metrics) {
    this.store = store;
    this.family = family;
    this.task = task;
    this.rows = rows;
    this.known = known;
    this.updated = metrics.get("numUpdatedStateRows");
    this.removed = metrics.get("numRemovedStateRows");
  }

  /**
   * The store of this name of a task, by the handle that Spark has given the processor.
   *
   * @param rows counts what is kept
   * @param known what is known of the keys of this store
   */
  public static FamilyBackend of(
      StatefulProcessorHandle handle, String name, int task, RowCount rows, KnownKeys known) {
    var backend = new FamilyBackend(storeOf(handle), name, task, rows, known, metricsOf(handle));
    open(backend.store, name);
    return backend;
  }

  /** What all tasks of a partition keep under one key, by task, in the family of this name. */
  public static Map<Integer, byte[]> everyTask(StatefulProcessorHandle handle, String name, byte[] key) {
    Map<Integer, byte[]> found = new HashMap<>();
    open(storeOf(handle), name);
    try (var all = storeOf(handle).iterator(name)) {
      while (all.hasNext()) {
        UnsafeRowPair pair = all.next();
        if (Arrays.equals(pair.key().getStruct(1, 1).getBinary(0), key)) {
          found.put(pair.key().getStruct(0, 1).getInt(0), pair.value().getBinary(0));
        }
      }
    } catch (Exception e) {
      throw new StateFailure(e);
    }
    return found;
  }

  /** What Spark shows as the number of rows in its state store. */
  public static SQLMetric totalRows(StatefulProcessorHandle handle) {
    return metricsOf(handle).get("numTotalStateRows");
  }

  /** Where Spark keeps the state of this partition. */
  public static StateStore storeOf(StatefulProcessorHandle handle) {
    try {
      return (StateStore) STORE.get(handle);
    } catch (IllegalAccessException e) {
      throw new StateFailure(e);
    }
  }

  @SuppressWarnings("unchecked")
  private static Map<String, SQLMetric> metricsOf(StatefulProcessorHandle handle) {
    try {
      return CollectionConverters.asJava((scala.collection.Map<String, SQLMetric>) METRICS.get(handle));
    } catch (IllegalAccessException e) {
      throw new StateFailure(e);
    }
  }

  /** Makes the family unless it is there, which is for each batch but the first of a run. */
  private static void open(StateStore store, String family) {
    try {
      store.get(key(new byte[0], 0), family);
    } catch (RuntimeException unknown) {
      store.createColFamilyIfAbsent(family, KEY, VALUE, new PrefixKeyScanStateEncoderSpec(KEY, 1), false, false);
    }
  }

  @Override
  public byte[] get(byte[] key) {
    if (known.lacks(key)) {
      return null;
    }
    try {
      UnsafeRow found = store.get(key(key), family);
      if (found == null) {
        known.missed(rows.get(), this::keys);
        return null;
      }
      return found.getBinary(0);
    } catch (RuntimeException e) {
      throw new StateFailure(e);
    }
  }

  @Override
  public void put(byte[] key, byte[] value, boolean added) {
    try {
      store.put(key(key), value(value), family);
      updated.add(1);
      if (added) {
        rows.add(1);
        known.added(key);
      }
    } catch (RuntimeException e) {
      throw new StateFailure(e);
    }
  }

  @Override
  public void remove(byte[] key) {
    try {
      store.remove(key(key), family);
      removed.add(1);
      rows.add(-1);
      known.removed(key);
    } catch (RuntimeException e) {
      throw new StateFailure(e);
    }
  }

  @Override
  public List<byte[]> keys() {
    List<byte[]> keys = new ArrayList<>();
    try (var found = store.prefixScan(prefix(), family)) {
      while (found.hasNext()) {
        keys.add(found.next().key().getStruct(1, 1).getBinary(0));
      }
    } catch (Exception e) {
      throw new StateFailure(e);
    }
    return keys;
  }

  private UnsafeRow key(byte[] key) {
    return key(key, task);
  }

  /** A row (struct of the task, struct of the key). */
  private static UnsafeRow key(byte[] key, int task) {
    byte[] row = new byte[KEY_BYTES + padded(key.length)];
    putLong(row, 1, place(3, 2 * Long.BYTES));
    putLong(row, 2, place(5, 2 * Long.BYTES + padded(key.length)));
    Platform.putInt(row, Platform.BYTE_ARRAY_OFFSET + 4 * Long.BYTES, task);
    putLong(row, 6, place(2, key.length));
    System.arraycopy(key, 0, row, KEY_BYTES, key.length);
    return row(2, row);
  }

  /** A row (struct of the task). */
  private UnsafeRow prefix() {
    byte[] row = new byte[PREFIX_BYTES];
    putLong(row, 1, place(2, 2 * Long.BYTES));
    Platform.putInt(row, Platform.BYTE_ARRAY_OFFSET + 3 * Long.BYTES, task);
    return row(1, row);
  }

  private static UnsafeRow value(byte[] value) {
    byte[] row = new byte[VALUE_BYTES + padded(value.length)];
    putLong(row, 1, place(2, value.length));
    System.arraycopy(value, 0, row, VALUE_BYTES, value.length);
    return row(1, row);
  }

  private static UnsafeRow row(int fields, byte[] bytes) {
    UnsafeRow row = new UnsafeRow(fields);
    row.pointTo(bytes, bytes.length);
    return row;
  }

  private static void putLong(byte[] row, int word, long value) {
    Platform.putLong(row, Platform.BYTE_ARRAY_OFFSET + (long) word * Long.BYTES, value);
  }

  /** Where a part of a row begins, in words from the row's own beginning, and how many bytes it has. */
  private static long place(int word, int bytes) {
    return (long) word * Long.BYTES << 32 | bytes;
  }

  private static int padded(int length) {
    return (length + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
  }

  private static Field field(String name) {
    try {
      Field field = StatefulProcessorHandleImpl.class.getDeclaredField(name);
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException("this Spark keeps its state store elsewhere: Tidemill is made for 4.2 and 4.3", e);
    }
  }
}
