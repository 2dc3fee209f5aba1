package io.tidemill.serde;

import java.io.ByteArrayInputStream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.apache.spark.unsafe.types.UTF8String;

/** Checks what Spark's XML reader passes over: another root element, and text behind its end. */
public final class Xml {
  private static final XMLInputFactory FACTORY = XMLInputFactory.newInstance();

  static {
    FACTORY.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    FACTORY.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
  }

  private Xml() {}

  /** The bytes where they are one element of that name, else null. */
  public static byte[] whole(byte[] data, UTF8String root) {
    try {
      XMLStreamReader reader = FACTORY.createXMLStreamReader(new ByteArrayInputStream(data), "UTF-8");
      try {
        while (!reader.isStartElement()) {
          reader.next();
        }
        if (!reader.getLocalName().equals(root.toString())) {
          return null;
        }
        while (reader.hasNext()) {
          reader.next();
        }
        return data;
      } finally {
        reader.close();
      }
    } catch (XMLStreamException | RuntimeException error) {
      return null;
    }
  }
}
