package io.tidemill.serde;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;

/** Looks up the Avro schemas of writers in a schema registry; one that was found is kept for good. */
public final class Registry implements Serializable {
  private static final Map<String, Schema> FOUND = new ConcurrentHashMap<>();
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int TIMEOUT_MS = 30_000;

  private final String url;
  private final String authorization;

  /** @param authorization the header of that name, null for none */
  public Registry(String url, String authorization) {
    this.url = url.replaceAll("/+$", "");
    this.authorization = authorization;
  }

  /** The schema of an id, null where the registry has none; a registry that does not answer is an exception. */
  public Schema schema(int id) {
    String key = url + "#" + id;
    Schema known = FOUND.get(key);
    if (known != null) {
      return known;
    }
    try {
      JsonNode answer = get("/schemas/ids/" + id);
      Schema schema = answer == null ? null : parsed(answer, new Schema.Parser());
      if (schema != null) {
        FOUND.put(key, schema);
      }
      return schema;
    } catch (IOException error) {
      throw new UncheckedIOException("the schema registry at " + url + " does not answer: " + error.getMessage(), error);
    }
  }

  private Schema parsed(JsonNode answer, Schema.Parser parser) throws IOException {
    if (!"AVRO".equals(answer.path("schemaType").asText("AVRO"))) {
      return null;
    }
    for (JsonNode reference : answer.path("references")) {
      String subject = URLEncoder.encode(reference.path("subject").asText(), StandardCharsets.UTF_8);
      JsonNode named = get("/subjects/" + subject + "/versions/" + reference.path("version").asInt());
      if (named == null) {
        throw new IOException("it has no " + subject + " " + reference.path("version").asInt());
      }
      parsed(named, parser);
    }
    return parser.parse(answer.path("schema").asText());
  }

  private JsonNode get(String path) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) URI.create(url + path).toURL().openConnection();
    connection.setConnectTimeout(TIMEOUT_MS);
    connection.setReadTimeout(TIMEOUT_MS);
    if (authorization != null) {
      connection.setRequestProperty("Authorization", authorization);
    }
    int status = connection.getResponseCode();
    if (status == HttpURLConnection.HTTP_NOT_FOUND) {
      return null;
    }
    if (status != HttpURLConnection.HTTP_OK) {
      throw new IOException("status " + status + " for " + path);
    }
    try (InputStream body = connection.getInputStream()) {
      return JSON.readTree(body);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Registry that && that.url.equals(url);
  }

  @Override
  public int hashCode() {
    return url.hashCode();
  }
}
