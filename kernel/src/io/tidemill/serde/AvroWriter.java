package io.tidemill.serde;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.avro.AvroSerializer;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** A value as Avro binary, behind the id of its schema where a registry is used. */
public final class AvroWriter implements Converter {
  private final String schema;
  private final Integer id;
  private final DataType input;
  private transient AvroSerializer serializer;
  private transient GenericDatumWriter<Object> writer;
  private transient BinaryEncoder encoder;

  /** @param id of the schema, null for nothing but the Avro body */
  public AvroWriter(String schema, Integer id) {
    this(schema, id, null);
  }

  private AvroWriter(String schema, Integer id, DataType input) {
    this.schema = schema;
    this.id = id;
    this.input = input;
  }

  @Override
  public Converter of(DataType type) {
    return new AvroWriter(schema, id, type);
  }

  @Override
  public DataType dataType() {
    return DataTypes.BinaryType;
  }

  @Override
  public Object convert(Object value) {
    if (serializer == null) {
      Schema parsed = new Schema.Parser().parse(schema);
      serializer = new AvroSerializer(input, parsed, parsed.isNullable());
      writer = new GenericDatumWriter<>(parsed);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      if (id != null) {
        out.write(0);
        out.write(Numbers.writeInt(id));
      }
      encoder = EncoderFactory.get().directBinaryEncoder(out, encoder);
      writer.write(serializer.serialize(value), encoder);
      encoder.flush();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    return out.toByteArray();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof AvroWriter that && that.schema.equals(schema) && java.util.Objects.equals(that.id, id);
  }

  @Override
  public int hashCode() {
    return schema.hashCode();
  }

  @Override
  public String toString() {
    return "avro_bytes";
  }
}
