package io.tidemill.serde;

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** A value of any type as JSON text: compact, in UTF-8, with every field, times in ISO form and bytes in base 64. */
public final class JsonWriter implements Converter {
  private final DataType input;
  private transient JsonForm form;
  private transient Text out;

  public JsonWriter() {
    this(null);
  }

  private JsonWriter(DataType input) {
    this.input = input;
  }

  @Override
  public Converter of(DataType type) {
    return new JsonWriter(type);
  }

  @Override
  public DataType dataType() {
    return DataTypes.BinaryType;
  }

  @Override
  public Object convert(Object value) {
    if (form == null) {
      form = JsonForm.of(input);
      out = new Text();
    }
    form.write(out.clear(), new GenericInternalRow(new Object[] {value}), 0);
    return out.toBytes();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof JsonWriter;
  }

  @Override
  public int hashCode() {
    return JsonWriter.class.hashCode();
  }

  @Override
  public String toString() {
    return "json_text";
  }
}
