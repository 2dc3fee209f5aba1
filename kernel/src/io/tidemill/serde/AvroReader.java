package io.tidemill.serde;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.spark.sql.avro.AvroDeserializer;
import org.apache.spark.sql.types.DataType;

/** Avro binary to a value of the reader's schema; with a registry the schema of the writer is looked up by its id. */
public final class AvroReader implements Converter {
  private static final int HEADER = 1 + Integer.BYTES;
  private static final int RECURSION = -1;

  private final String schema;
  private final DataType type;
  private final Registry registry;
  private transient Schema reading;
  private transient AvroDeserializer deserializer;
  private transient Map<Integer, GenericDatumReader<Object>> readers;
  private transient BinaryDecoder decoder;

  /** @param registry null where messages are nothing but the Avro body */
  public AvroReader(String schema, DataType type, Registry registry) {
    this.schema = schema;
    this.type = type;
    this.registry = registry;
  }

  @Override
  public DataType dataType() {
    return type;
  }

  @Override
  public boolean givesFreshValues() {
    return false; // Spark's deserialiser has one row for all
  }

  @Override
  public Object convert(Object value) {
    if (deserializer == null) {
      open();
    }
    byte[] data = (byte[]) value;
    int start = registry == null ? 0 : HEADER;
    if (data.length < start || registry != null && data[0] != 0) {
      return null;
    }
    GenericDatumReader<Object> reader = reader(registry == null ? 0 : Numbers.intAt(data, 1));
    if (reader == null) {
      return null;
    }
    try {
      decoder = DecoderFactory.get().binaryDecoder(data, start, data.length - start, decoder);
      Object parsed = reader.read(null, decoder);
      return decoder.isEnd() ? deserializer.deserialize(parsed).getOrElse(() -> null) : null;
    } catch (IOException | RuntimeException error) { // broken bytes show themselves in every way
      return null;
    }
  }

  private void open() {
    reading = new Schema.Parser().parse(schema);
    deserializer = new AvroDeserializer(reading, type, "CORRECTED", false, "", RECURSION);
    readers = new HashMap<>();
  }

  private GenericDatumReader<Object> reader(int id) {
    if (!readers.containsKey(id)) {
      readers.put(id, newReader(id));
    }
    return readers.get(id);
  }

  private GenericDatumReader<Object> newReader(int id) {
    Schema writing = registry == null ? reading : registry.schema(id);
    return writing == null ? null : new GenericDatumReader<>(writing, reading);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof AvroReader that
        && that.schema.equals(schema)
        && java.util.Objects.equals(that.registry, registry);
  }

  @Override
  public int hashCode() {
    return schema.hashCode();
  }

  @Override
  public String toString() {
    return "avro_value";
  }
}
