package io.tidemill.serde;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.parsers.SAXParser;
import javax.xml.parsers.SAXParserFactory;
import org.apache.spark.unsafe.types.UTF8String;
import org.xml.sax.Attributes;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;
import org.xml.sax.helpers.DefaultHandler;

/** Checks what Spark's XML reader passes over: another root element, and text behind its end. */
public final class Xml {
  private static final ThreadLocal<SAXParser> PARSER = ThreadLocal.withInitial(Xml::parser);

  private Xml() {}

  /** The bytes where they are one element of that name, else null. */
  public static byte[] whole(byte[] data, UTF8String root) {
    InputSource source = new InputSource(new ByteArrayInputStream(data));
    source.setEncoding("UTF-8");
    Root found = new Root();
    try {
      PARSER.get().parse(source, found);
    } catch (SAXException | IOException error) {
      return null;
    }
    return root.toString().equals(found.name) ? data : null;
  }

  private static SAXParser parser() {
    try {
      SAXParserFactory factory = SAXParserFactory.newInstance();
      factory.setFeature("http://javax.xml.XMLConstants/feature/secure-processing", true);
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      return factory.newSAXParser();
    } catch (ParserConfigurationException | SAXException error) {
      throw new IllegalStateException(error);
    }
  }

  private static final class Root extends DefaultHandler {
    private String name;

    @Override
    public void startElement(String uri, String localName, String qualifiedName, Attributes attributes) {
      if (name == null) {
        name = qualifiedName;
      }
    }

    @Override
    public void fatalError(SAXParseException error) throws SAXException {
      throw error; // the parser's own handler would print it too
    }
  }
}
