package io.tidemill.serde;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Base64;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/** How the values of one type look in JSON. */
interface JsonForm {
  void write(Text out, SpecializedGetters row, int at);

  static JsonForm of(DataType type) {
    JsonForm present = ofPresent(type);
    return (out, row, at) -> {
      if (row.isNullAt(at)) {
        out.add("null");
      } else {
        present.write(out, row, at);
      }
    };
  }

  private static JsonForm ofPresent(DataType type) {
    if (type instanceof StringType) {
      return (out, row, at) -> out.quoted(row.getUTF8String(at).getBytes());
    } else if (type instanceof LongType) {
      return (out, row, at) -> out.add(row.getLong(at));
    } else if (type instanceof IntegerType) {
      return (out, row, at) -> out.add(row.getInt(at));
    } else if (type instanceof ShortType) {
      return (out, row, at) -> out.add(row.getShort(at));
    } else if (type instanceof ByteType) {
      return (out, row, at) -> out.add(row.getByte(at));
    } else if (type instanceof DoubleType) {
      return (out, row, at) -> number(out, row.getDouble(at), Double.toString(row.getDouble(at)));
    } else if (type instanceof FloatType) {
      return (out, row, at) -> number(out, row.getFloat(at), Float.toString(row.getFloat(at)));
    } else if (type instanceof BooleanType) {
      return (out, row, at) -> out.add(row.getBoolean(at) ? "true" : "false");
    } else if (type instanceof DecimalType decimal) {
      return (out, row, at) ->
          out.add(row.getDecimal(at, decimal.precision(), decimal.scale()).toJavaBigDecimal().toPlainString());
    } else if (type instanceof BinaryType) {
      return (out, row, at) -> out.quoted(Base64.getEncoder().encode(row.getBinary(at)));
    } else if (type instanceof DateType) {
      return (out, row, at) -> date(out.add('"'), LocalDate.ofEpochDay(row.getInt(at))).add('"');
    } else if (type instanceof TimestampType) {
      return (out, row, at) -> time(out.add('"'), row.getLong(at)).add("+00:00\"");
    } else if (type instanceof TimestampNTZType) {
      return (out, row, at) -> time(out.add('"'), row.getLong(at)).add('"');
    } else if (type instanceof StructType struct) {
      return ofStruct(struct);
    } else if (type instanceof ArrayType array) {
      return ofArray(of(array.elementType()));
    } else if (type instanceof MapType map) {
      return ofMap(of(map.keyType()), map.keyType() instanceof StringType, of(map.valueType()));
    } else if (type instanceof NullType) {
      return (out, row, at) -> out.add("null");
    }
    throw new IllegalArgumentException("the type " + type.simpleString() + " has no JSON form");
  }

  private static JsonForm ofStruct(StructType struct) {
    StructField[] fields = struct.fields();
    byte[][] names = new byte[fields.length][];
    JsonForm[] forms = new JsonForm[fields.length];
    for (int i = 0; i < fields.length; i++) {
      Text name = new Text();
      names[i] = name.quoted(fields[i].name().getBytes(StandardCharsets.UTF_8)).add(':').toBytes();
      forms[i] = of(fields[i].dataType());
    }
    return (out, row, at) -> {
      InternalRow inner = row.getStruct(at, forms.length);
      out.add('{');
      for (int i = 0; i < forms.length; i++) {
        forms[i].write(i == 0 ? out.add(names[i]) : out.add(',').add(names[i]), inner, i);
      }
      out.add('}');
    };
  }

  private static JsonForm ofArray(JsonForm element) {
    return (out, row, at) -> {
      ArrayData items = row.getArray(at);
      out.add('[');
      for (int i = 0; i < items.numElements(); i++) {
        element.write(i == 0 ? out : out.add(','), items, i);
      }
      out.add(']');
    };
  }

  private static JsonForm ofMap(JsonForm key, boolean isText, JsonForm value) {
    return (out, row, at) -> {
      MapData entries = row.getMap(at);
      out.add('{');
      for (int i = 0; i < entries.numElements(); i++) {
        Text begun = i == 0 ? out : out.add(',');
        key.write(isText ? begun : begun.add('"'), entries.keyArray(), i);
        value.write(out.add(isText ? ":" : "\":"), entries.valueArray(), i);
      }
      out.add('}');
    };
  }

  private static void number(Text out, double value, String text) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      out.add('"').add(text).add('"'); // JSON has no such number; Spark reads this form back
    } else {
      out.add(text);
    }
  }

  private static Text date(Text out, LocalDate date) {
    return date.getYear() >= 0 && date.getYear() <= 9999
        ? out.padded(date.getYear(), 4).add('-').padded(date.getMonthValue(), 2).add('-').padded(date.getDayOfMonth(), 2)
        : out.add(date.toString());
  }

  private static Text time(Text out, long micros) {
    long seconds = Math.floorDiv(micros, 1_000_000L);
    int fraction = (int) Math.floorMod(micros, 1_000_000L);
    LocalDateTime time = LocalDateTime.ofInstant(Instant.ofEpochSecond(seconds), ZoneOffset.UTC);
    date(out, time.toLocalDate()).add('T');
    out.padded(time.getHour(), 2).add(':').padded(time.getMinute(), 2).add(':').padded(time.getSecond(), 2);
    return fraction == 0 ? out : out.add('.').padded(fraction, 6);
  }
}
