package bench;

import bench.Values.Event;
import bench.Values.Located;
import bench.Values.Pair;
import bench.Values.Person;
import bench.Values.Projected;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.WindowedSerdes;

/** The workloads in Kafka Streams' DSL. */
final class Topologies {
    private static final Duration WINDOW = Duration.ofSeconds(10);
    private static final Duration GRACE = Duration.ofSeconds(5);
    private static final Serde<String> STRING = Serdes.String();
    private static final Serde<Long> LONG = Serdes.Long();
    private static final Serde<Event> EVENT = new JsonSerde<>(Event.class);
    private static final Serde<Person> PERSON = new JsonSerde<>(Person.class);
    private static final Serde<Located> LOCATED = new JsonSerde<>(Located.class);
    private static final Serde<Pair> PAIR = new JsonSerde<>(Pair.class);

    private static final Map<String, BiConsumer<Job, StreamsBuilder>> ALL = Map.of(
            "W0", Topologies::project,
            "W1", Topologies::wordCount,
            "W2", Topologies::tumblingSum,
            "W3", Topologies::slidingSum,
            "W4", Topologies::streamTableJoin,
            "W5", Topologies::streamStreamJoin,
            "W6", Topologies::tableTableJoin,
            "W7", Topologies::joinThenCount,
            "sum", Topologies::sum);

    static void of(Job job, StreamsBuilder builder) {
        ALL.get(job.workload).accept(job, builder);
    }

    private static void project(Job job, StreamsBuilder builder) {
        events(job, builder, "events")
                .filter((user, event) -> event.amount >= 500)
                .mapValues(event -> new Projected(event.id, event.user, event.amount * 3))
                .to(job.output, Produced.with(STRING, new JsonSerde<>(Projected.class)));
    }

    private static void wordCount(Job job, StreamsBuilder builder) {
        builder.stream(job.inputs.get("lines"), Consumed.with(STRING, STRING))
                .flatMapValues(line -> Arrays.asList(line.split(" ")))
                .groupBy((key, word) -> word, Grouped.with("by-word", STRING, STRING))
                .count(Materialized.with(STRING, LONG))
                .toStream()
                .to(job.output, Produced.with(STRING, LONG));
    }

    private static void tumblingSum(Job job, StreamsBuilder builder) {
        events(job, builder, "events")
                .mapValues(event -> event.amount)
                .groupByKey(Grouped.with(STRING, LONG))
                .windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, GRACE))
                .reduce(Long::sum, Materialized.with(STRING, LONG))
                .toStream()
                .to(job.output, Produced.with(windowed(), LONG));
    }

    private static void slidingSum(Job job, StreamsBuilder builder) {
        events(job, builder, "events")
                .mapValues(event -> event.amount)
                .groupByKey(Grouped.with(STRING, LONG))
                .windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(WINDOW, GRACE))
                .reduce(Long::sum, Materialized.with(STRING, LONG))
                .toStream()
                .to(job.output, Produced.with(windowed(), LONG));
    }

    private static void streamTableJoin(Job job, StreamsBuilder builder) {
        located(job, builder).to(job.output, Produced.with(STRING, LOCATED));
    }

    private static void streamStreamJoin(Job job, StreamsBuilder builder) {
        events(job, builder, "left")
                .join(
                        events(job, builder, "right"),
                        (left, right) -> new Pair(left.id, right.id),
                        JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(5), GRACE),
                        StreamJoined.with(STRING, EVENT, EVENT))
                .to(job.output, Produced.with(STRING, PAIR));
    }

    private static void tableTableJoin(Job job, StreamsBuilder builder) {
        KTable<String, Event> left = builder.table(job.inputs.get("left"), Consumed.with(STRING, EVENT));
        KTable<String, Event> right = builder.table(job.inputs.get("right"), Consumed.with(STRING, EVENT));
        left.join(right, (one, other) -> new Pair(one.id, other.id), Materialized.with(STRING, PAIR))
                .toStream()
                .to(job.output, Produced.with(STRING, PAIR));
    }

    private static void joinThenCount(Job job, StreamsBuilder builder) {
        located(job, builder)
                .groupBy((user, event) -> event.city, Grouped.with("by-city", STRING, LOCATED))
                .windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, Duration.ofHours(1)))
                .count(Materialized.with(STRING, LONG))
                .toStream()
                .to(job.output, Produced.with(windowed(), LONG));
    }

    private static void sum(Job job, StreamsBuilder builder) {
        events(job, builder, "events")
                .mapValues(event -> event.amount)
                .groupByKey(Grouped.with(STRING, LONG))
                .reduce(Long::sum, Materialized.with(STRING, LONG))
                .toStream()
                .to(job.output, Produced.with(STRING, LONG));
    }

    private static KStream<String, Located> located(Job job, StreamsBuilder builder) {
        KTable<String, Person> people = builder.table(job.inputs.get("table"), Consumed.with(STRING, PERSON));
        return events(job, builder, "events")
                .join(
                        people,
                        (event, person) -> new Located(event.id, event.amount, person.city),
                        Joined.with(STRING, EVENT, PERSON));
    }

    private static KStream<String, Event> events(Job job, StreamsBuilder builder, String role) {
        return builder.stream(job.inputs.get(role), Consumed.with(STRING, EVENT));
    }

    private static Serde<Windowed<String>> windowed() {
        return WindowedSerdes.timeWindowedSerdeFrom(String.class, WINDOW.toMillis());
    }

    private Topologies() {}
}
