package io.tidemill.serde;

import java.io.Serializable;
import org.apache.spark.sql.types.DataType;

/** One way between bytes and a Spark value, in Spark's internal form; every task has a copy of its own. */
public interface Converter extends Serializable {
  /** The type of what comes out. */
  DataType dataType();

  /** Whether a value is an object of its own, and not one that the next value is written into. */
  default boolean givesFreshValues() {
    return true;
  }

  /** What a value that is not null becomes; null where bytes do not parse. A value without bytes is an exception. */
  Object convert(Object value);

  /** The same for values of the type that is known once the query has been analysed. */
  default Converter of(DataType input) {
    return this;
  }
}
