package io.tidemill.serde;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Numbers in the big-endian bytes of Kafka's serialisers; bytes of another width are no number. */
public final class Numbers {
  private static final VarHandle SHORT = view(short[].class);
  private static final VarHandle INT = view(int[].class);
  private static final VarHandle LONG = view(long[].class);

  private Numbers() {}

  public static Short readShort(byte[] data) {
    return data.length == Short.BYTES ? (Short) (short) SHORT.get(data, 0) : null;
  }

  public static Integer readInt(byte[] data) {
    return data.length == Integer.BYTES ? (Integer) intAt(data, 0) : null;
  }

  public static Long readLong(byte[] data) {
    return data.length == Long.BYTES ? (Long) longAt(data, 0) : null;
  }

  public static Float readFloat(byte[] data) {
    return data.length == Float.BYTES ? (Float) Float.intBitsToFloat(intAt(data, 0)) : null;
  }

  public static Double readDouble(byte[] data) {
    return data.length == Double.BYTES ? (Double) Double.longBitsToDouble(longAt(data, 0)) : null;
  }

  public static byte[] writeShort(short value) {
    byte[] data = new byte[Short.BYTES];
    SHORT.set(data, 0, value);
    return data;
  }

  public static byte[] writeInt(int value) {
    byte[] data = new byte[Integer.BYTES];
    INT.set(data, 0, value);
    return data;
  }

  public static byte[] writeLong(long value) {
    byte[] data = new byte[Long.BYTES];
    LONG.set(data, 0, value);
    return data;
  }

  public static byte[] writeFloat(float value) {
    return writeInt(Float.floatToIntBits(value));
  }

  public static byte[] writeDouble(double value) {
    return writeLong(Double.doubleToLongBits(value));
  }

  static int intAt(byte[] data, int offset) {
    return (int) INT.get(data, offset);
  }

  static long longAt(byte[] data, int offset) {
    return (long) LONG.get(data, offset);
  }

  private static VarHandle view(Class<?> array) {
    return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.BIG_ENDIAN);
  }
}
