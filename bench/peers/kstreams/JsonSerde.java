package bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.IOException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serializer;

/** JSON by Jackson's data binding, with a reader and a writer made once. */
final class JsonSerde<T> implements Serde<T> {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private final ObjectReader reader;
    private final ObjectWriter writer;

    JsonSerde(Class<T> type) {
        reader = MAPPER.readerFor(type);
        writer = MAPPER.writerFor(type);
    }

    @Override
    public Serializer<T> serializer() {
        return (topic, value) -> {
            try {
                return value == null ? null : writer.writeValueAsBytes(value);
            } catch (JsonProcessingException error) {
                throw new SerializationException(error);
            }
        };
    }

    @Override
    public Deserializer<T> deserializer() {
        return (topic, bytes) -> {
            try {
                return bytes == null ? null : reader.readValue(bytes);
            } catch (IOException error) {
                throw new SerializationException(error);
            }
        };
    }
}
