package io.tidemill.serde;

import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** An array of elements that are bytes already, in the layout of Kafka's ListSerde. */
public final class ListWriter implements Converter {
  private final int width;

  /** @param width the bytes of each element, 0 where elements carry their length */
  public ListWriter(int width) {
    this.width = width;
  }

  @Override
  public DataType dataType() {
    return DataTypes.BinaryType;
  }

  @Override
  public Object convert(Object value) {
    ArrayData items = (ArrayData) value;
    return width == 0 ? variable(items) : fixed(items);
  }

  private byte[] fixed(ArrayData items) {
    int size = items.numElements();
    int nulls = 0;
    for (int i = 0; i < size; i++) {
      nulls += items.isNullAt(i) ? 1 : 0;
    }
    ByteBuffer out = ByteBuffer.allocate(1 + (nulls + 2) * Integer.BYTES + (size - nulls) * width);
    out.put(ListReader.FIXED).putInt(nulls);
    for (int i = 0; i < size; i++) {
      if (items.isNullAt(i)) {
        out.putInt(i);
      }
    }
    out.putInt(size);
    for (int i = 0; i < size; i++) {
      if (!items.isNullAt(i)) {
        out.put(items.getBinary(i));
      }
    }
    return out.array();
  }

  private byte[] variable(ArrayData items) {
    int length = 1 + Integer.BYTES;
    byte[][] parts = new byte[items.numElements()][];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = items.isNullAt(i) ? null : items.getBinary(i);
      length += Integer.BYTES + (parts[i] == null ? 0 : parts[i].length);
    }
    ByteBuffer out = ByteBuffer.allocate(length).put(ListReader.VARIABLE).putInt(parts.length);
    for (byte[] part : parts) {
      if (part == null) {
        out.putInt(ListReader.NULL);
      } else {
        out.putInt(part.length).put(part);
      }
    }
    return out.array();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ListWriter that && that.width == width;
  }

  @Override
  public int hashCode() {
    return width;
  }

  @Override
  public String toString() {
    return "list_bytes";
  }
}
