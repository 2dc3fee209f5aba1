package io.tidemill.memory;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.util.List;
import org.apache.spark.sql.Row;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * Output rows (topic, key, value, headers, timestamp, ...) as bytes, for a reader to whom every call is dear.
 *
 * The number of rows, then each row: topic, key and value, the time in milliseconds, the number of headers, each one's name
 * and value, and whether the row is a problem. Texts and bytes follow their length, which is -1 for null; numbers are big-endian.
 */
final class PackedRows {
  private PackedRows() {}

  static byte[] pack(List<Object[]> rows, int problem) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(rows.size());
      for (Object[] row : rows) {
        text(out, (String) row[0]);
        data(out, (byte[]) row[1]);
        data(out, (byte[]) row[2]);
        out.writeLong(((Timestamp) row[4]).getTime());
        headers(out, (Seq<?>) row[3]);
        out.writeBoolean(Boolean.TRUE.equals(row[problem]));
      }
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  private static void headers(DataOutputStream out, Seq<?> headers) throws IOException {
    out.writeInt(headers == null ? 0 : headers.size());
    if (headers != null) {
      for (Iterator<?> each = headers.iterator(); each.hasNext();) {
        Row header = (Row) each.next();
        text(out, header.getString(0));
        data(out, (byte[]) header.get(1));
      }
    }
  }

  private static void text(DataOutputStream out, String text) throws IOException {
    data(out, text == null ? null : text.getBytes(StandardCharsets.UTF_8));
  }

  private static void data(DataOutputStream out, byte[] data) throws IOException {
    out.writeInt(data == null ? -1 : data.length);
    if (data != null) {
      out.write(data);
    }
  }
}
