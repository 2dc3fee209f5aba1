package io.tidemill.serde;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonParser;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.collection.immutable.List$;
import scala.collection.immutable.Map$;

/**
 * JSON text to a value: plain texts by a {@link PlainJson}, all others by Spark's own parser.
 *
 * Spark's from_json leaves wrong fields null and does not look behind the end of the value; here the whole text is
 * one value in which everything fits, or there is none. Values of any type may stand alone.
 */
public final class JsonReader implements Converter {
  private final DataType type;
  private transient JsonFactory factory;
  private transient Function1<JsonParser, Object> parser;
  private transient PlainJson plain;

  public JsonReader(DataType type) {
    this.type = type;
  }

  @Override
  public DataType dataType() {
    return type;
  }

  @Override
  public Object convert(Object value) {
    if (parser == null) {
      open();
    }
    byte[] text = (byte[]) value;
    if (plain != null) {
      try {
        return plain.read(text);
      } catch (PlainJson.NotPlain notPlain) {
        // The parser below knows the rest of JSON, and what is none.
      }
    }
    try (JsonParser tokens = factory.createParser(text, 0, text.length)) {
      if (tokens.nextToken() == null) {
        return null;
      }
      Object result = parser.apply(tokens);
      return tokens.nextToken() == null ? result : null;
    } catch (Exception error) { // Spark's parser throws checked exceptions without saying so
      return null;
    }
  }

  private void open() {
    JSONOptions options = new JSONOptions(Map$.MODULE$.<String, String>empty().updated("allowSingleQuotes", "false"), "UTC", "");
    factory = options.buildJsonFactory();
    plain = PlainJson.of(type);
    StructType wrapped = new StructType().add("value", type);
    parser = new JacksonParser(wrapped, options, false, List$.MODULE$.empty()).makeConverter(type);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof JsonReader that && that.type.equals(type);
  }

  @Override
  public int hashCode() {
    return type.hashCode();
  }

  @Override
  public String toString() {
    return "json_value";
  }
}
