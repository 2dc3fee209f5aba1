package io.tidemill.serde;

import java.util.Arrays;
import java.util.BitSet;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;

/** Lists in the layout of Kafka's ListSerde; elements are numbers, or bytes that another step reads. */
public final class ListReader implements Converter {
  static final byte FIXED = 0;
  static final byte VARIABLE = 1;
  static final int NULL = -1;

  private final DataType element;
  private final int width;

  /** @param width the bytes of each element, 0 where elements carry their length */
  public ListReader(DataType element, int width) {
    this.element = element;
    this.width = width;
  }

  @Override
  public DataType dataType() {
    return DataTypes.createArrayType(element);
  }

  @Override
  public Object convert(Object value) {
    byte[] data = (byte[]) value;
    if (data.length < 1 + Integer.BYTES) {
      return null;
    }
    return switch (data[0]) {
      case FIXED -> width == 0 ? null : fixed(data);
      case VARIABLE -> variable(data);
      default -> null;
    };
  }

  private Object fixed(byte[] data) {
    int nulls = Numbers.intAt(data, 1);
    long start = 1L + Integer.BYTES + (long) nulls * Integer.BYTES + Integer.BYTES;
    if (nulls < 0 || start > data.length) {
      return null;
    }
    int size = Numbers.intAt(data, (int) start - Integer.BYTES);
    if (size < nulls || start + (long) (size - nulls) * width != data.length) {
      return null;
    }
    BitSet absent = new BitSet(size);
    for (int i = 0; i < nulls; i++) {
      int index = Numbers.intAt(data, 1 + Integer.BYTES + i * Integer.BYTES);
      if (index < 0 || index >= size || absent.get(index)) {
        return null;
      }
      absent.set(index);
    }
    Object[] items = new Object[size];
    int at = (int) start;
    for (int i = 0; i < size; i++) {
      if (!absent.get(i)) {
        items[i] = read(Arrays.copyOfRange(data, at, at + width));
        at += width;
      }
    }
    return new GenericArrayData(items);
  }

  private Object variable(byte[] data) {
    int size = Numbers.intAt(data, 1);
    int at = 1 + Integer.BYTES;
    if (size < 0 || size > (data.length - at) / Integer.BYTES) {
      return null;
    }
    Object[] items = new Object[size];
    for (int i = 0; i < size; i++) {
      if (data.length - at < Integer.BYTES) {
        return null;
      }
      int length = Numbers.intAt(data, at);
      at += Integer.BYTES;
      if (length == NULL) {
        continue;
      }
      if (length < 0 || length > data.length - at) {
        return null;
      }
      items[i] = read(Arrays.copyOfRange(data, at, at + length));
      if (items[i] == null) {
        return null;
      }
      at += length;
    }
    return at == data.length ? new GenericArrayData(items) : null;
  }

  private Object read(byte[] item) {
    if (element instanceof BinaryType) {
      return item;
    } else if (element instanceof LongType) {
      return Numbers.readLong(item);
    } else if (element instanceof IntegerType) {
      return Numbers.readInt(item);
    } else if (element instanceof DoubleType) {
      return Numbers.readDouble(item);
    } else if (element instanceof FloatType) {
      return Numbers.readFloat(item);
    } else if (element instanceof ShortType) {
      return Numbers.readShort(item);
    }
    throw new IllegalArgumentException("no list of " + element.simpleString());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ListReader that && that.element.equals(element) && that.width == width;
  }

  @Override
  public int hashCode() {
    return 31 * element.hashCode() + width;
  }

  @Override
  public String toString() {
    return "list_value";
  }
}
