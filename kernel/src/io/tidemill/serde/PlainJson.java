package io.tidemill.serde;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A quick reader of the JSON most records are: an object of texts, numbers, booleans and such objects.
 *
 * It reads bytes without making characters of them. Whatever is not plain (escapes, numbers that do not fit at first
 * sight, lists, anything broken) it leaves to the parser that knows all of JSON, which then begins anew.
 */
final class PlainJson {
  /** Says that the text is for the other parser; costs no trace. */
  static final class NotPlain extends RuntimeException {
    private NotPlain() {
      super(null, null, false, false);
    }
  }

  private static final NotPlain NOT_PLAIN = new NotPlain();
  private static final int MOST_DIGITS = 18;
  /** Beyond that a record is not kept in memory for one of its texts. */
  private static final int LONG_RECORD = 1024;
  private static final byte[] TRUE = ascii("true");
  private static final byte[] FALSE = ascii("false");
  private static final byte[] NULL = ascii("null");

  private enum Kind { TEXT, BYTE, SHORT, INT, LONG, DOUBLE, BOOLEAN, OBJECT }

  /** An object's fields, in the order in which they are expected. */
  private static final class Shape {
    final byte[][] names;
    final Kind[] kinds;
    final Shape[] inner;

    Shape(StructType type) {
      StructField[] fields = type.fields();
      names = new byte[fields.length][];
      kinds = new Kind[fields.length];
      inner = new Shape[fields.length];
      for (int i = 0; i < fields.length; i++) {
        names[i] = fields[i].name().getBytes(StandardCharsets.UTF_8);
        kinds[i] = kindOf(fields[i].dataType());
        inner[i] = fields[i].dataType() instanceof StructType nested ? new Shape(nested) : null;
      }
    }
  }

  private final Shape shape;
  private byte[] text;
  private int at;
  /** Whether the text that {@link #endOfText} came to the end of needs no further look. */
  private boolean isAscii;

  private PlainJson(Shape shape) {
    this.shape = shape;
  }

  /** A reader for a type, null if its values are not plain. */
  static PlainJson of(DataType type) {
    return type instanceof StructType struct && isPlain(struct) ? new PlainJson(new Shape(struct)) : null;
  }

  /** The value of a whole text. */
  GenericInternalRow read(byte[] json) {
    text = json;
    at = 0;
    try {
      space();
      GenericInternalRow row = object(shape);
      space();
      if (at < text.length) {
        throw NOT_PLAIN;
      }
      return row;
    } catch (ArrayIndexOutOfBoundsException e) {
      throw NOT_PLAIN; // the text ends too early
    }
  }

  private static boolean isPlain(StructType type) {
    return Arrays.stream(type.fields()).allMatch(field ->
        field.dataType() instanceof StructType nested ? isPlain(nested) : kindOf(field.dataType()) != null);
  }

  private static Kind kindOf(DataType type) {
    if (type instanceof StructType) {
      return Kind.OBJECT;
    }
    if (type.equals(DataTypes.StringType)) {
      return Kind.TEXT;
    }
    if (type.equals(DataTypes.LongType)) {
      return Kind.LONG;
    }
    if (type.equals(DataTypes.IntegerType)) {
      return Kind.INT;
    }
    if (type.equals(DataTypes.ShortType)) {
      return Kind.SHORT;
    }
    if (type.equals(DataTypes.ByteType)) {
      return Kind.BYTE;
    }
    if (type.equals(DataTypes.DoubleType)) {
      return Kind.DOUBLE;
    }
    return type.equals(DataTypes.BooleanType) ? Kind.BOOLEAN : null;
  }

  private GenericInternalRow object(Shape shape) {
    expect('{');
    Object[] fields = new Object[shape.names.length];
    space();
    if (text[at] == '}') {
      at++;
      return new GenericInternalRow(fields);
    }
    int expected = 0;
    while (true) {
      int field = name(shape, expected);
      space();
      expect(':');
      space();
      if (field < 0) {
        skip();
      } else {
        fields[field] = value(shape.kinds[field], shape.inner[field]);
        expected = field + 1;
      }
      space();
      byte next = text[at++];
      if (next == '}') {
        return new GenericInternalRow(fields);
      }
      if (next != ',') {
        throw NOT_PLAIN;
      }
      space();
    }
  }

  /** The position of the field whose name comes now, -1 if there is none; most come in the order of the schema. */
  private int name(Shape shape, int expected) {
    int from = at + 1;
    int to = endOfText();
    if (expected < shape.names.length && isName(shape.names[expected], from, to)) {
      return expected;
    }
    for (int i = 0; i < shape.names.length; i++) {
      if (isName(shape.names[i], from, to)) {
        return i;
      }
    }
    checked(from, to);
    return -1;
  }

  private boolean isName(byte[] name, int from, int to) {
    return name.length == to - from && Arrays.equals(name, 0, name.length, text, from, to);
  }

  private Object value(Kind kind, Shape inner) {
    if (text[at] == 'n') {
      literal(NULL);
      return null;
    }
    switch (kind) {
      case TEXT:
        return text();
      case LONG:
        return number();
      case INT:
        return (int) within(number(), Integer.MIN_VALUE, Integer.MAX_VALUE);
      case SHORT:
        return (short) within(number(), Short.MIN_VALUE, Short.MAX_VALUE);
      case BYTE:
        return (byte) within(number(), Byte.MIN_VALUE, Byte.MAX_VALUE);
      case DOUBLE:
        return fraction();
      case BOOLEAN:
        boolean isTrue = text[at] == 't';
        literal(isTrue ? TRUE : FALSE);
        return isTrue;
      default:
        return object(inner);
    }
  }

  private UTF8String text() {
    int from = at + 1;
    return checked(from, endOfText());
  }

  /** A text that ends behind the one that was read last; it points into a short record, and is copied from a long one. */
  private UTF8String checked(int from, int to) {
    UTF8String value = text.length <= LONG_RECORD
        ? UTF8String.fromBytes(text, from, to - from)
        : UTF8String.fromBytes(Arrays.copyOfRange(text, from, to));
    if (!isAscii && !value.isValid()) {
      throw NOT_PLAIN;
    }
    return value;
  }

  /** Where the text that begins here ends; goes on behind it. */
  private int endOfText() {
    expect('"');
    byte[] bytes = text;
    int i = at;
    int all = 0;
    while (true) {
      byte next = bytes[i++];
      if (next == '"') {
        isAscii = all >= 0;
        at = i;
        return i - 1;
      }
      if (next == '\\' || next >= 0 && next < ' ') {
        throw NOT_PLAIN;
      }
      all |= next;
    }
  }

  private long number() {
    byte[] bytes = text;
    boolean negative = bytes[at] == '-';
    if (negative) {
      at++;
    }
    int from = at;
    int i = from;
    long value = 0;
    while (i < bytes.length && isDigit(bytes[i])) {
      value = 10 * value + (bytes[i++] - '0');
    }
    at = i;
    int digits = i - from;
    boolean isNumber = digits > 0 && digits <= MOST_DIGITS && (digits == 1 || text[from] != '0');
    if (!isNumber || at < text.length && (text[at] == '.' || text[at] == 'e' || text[at] == 'E')) {
      throw NOT_PLAIN;
    }
    return negative ? -value : value;
  }

  private double fraction() {
    int from = at;
    if (text[at] == '-') {
      at++;
    }
    int whole = at;
    digits();
    if (text[whole] == '0' && at - whole > 1) {
      throw NOT_PLAIN;
    }
    if (at < text.length && text[at] == '.') {
      at++;
      digits();
    }
    if (at < text.length && (text[at] == 'e' || text[at] == 'E')) {
      at++;
      if (text[at] == '+' || text[at] == '-') {
        at++;
      }
      digits();
    }
    return Double.parseDouble(new String(text, from, at - from, StandardCharsets.ISO_8859_1));
  }

  private void digits() {
    int from = at;
    while (at < text.length && isDigit(text[at])) {
      at++;
    }
    if (at == from) {
      throw NOT_PLAIN;
    }
  }

  /** A value nobody asked for. */
  private void skip() {
    switch (text[at]) {
      case '"' -> text();
      case 't' -> literal(TRUE);
      case 'f' -> literal(FALSE);
      case 'n' -> literal(NULL);
      default -> fraction();
    }
  }

  private static long within(long number, long least, long most) {
    if (number < least || number > most) {
      throw NOT_PLAIN;
    }
    return number;
  }

  private void literal(byte[] word) {
    if (!Arrays.equals(word, 0, word.length, text, at, Math.min(text.length, at + word.length))) {
      throw NOT_PLAIN;
    }
    at += word.length;
  }

  private void expect(char wanted) {
    if (text[at++] != wanted) {
      throw NOT_PLAIN;
    }
  }

  private void space() {
    while (at < text.length && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r')) {
      at++;
    }
  }

  private static boolean isDigit(byte character) {
    return character >= '0' && character <= '9';
  }

  private static byte[] ascii(String word) {
    return word.getBytes(StandardCharsets.US_ASCII);
  }
}
