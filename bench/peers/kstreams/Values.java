package bench;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;

/** The values of the topics. */
final class Values {
    /** An event; what is not used is not kept. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public static final class Event {
        public long id;
        public String user;
        public long amount;
    }

    /** A row of the table. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public static final class Person {
        public String name;
        public String city;
    }

    /** The projection of an event. */
    public static final class Projected {
        public final long id;
        public final String user;
        public final long total;

        Projected(long id, String user, long total) {
            this.id = id;
            this.user = user;
            this.total = total;
        }
    }

    /** An event with the city of its user. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public static final class Located {
        public long id;
        public long amount;
        public String city;

        public Located() {}

        Located(long id, long amount, String city) {
            this.id = id;
            this.amount = amount;
            this.city = city;
        }
    }

    /** Two events that met. */
    public static final class Pair {
        public long left;
        public long right;

        public Pair() {}

        Pair(long left, long right) {
            this.left = left;
            this.right = right;
        }
    }

    private Values() {}
}
