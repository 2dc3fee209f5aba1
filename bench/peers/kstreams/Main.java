package bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

/** Runs one workload on Kafka Streams until it is told to stop. */
public final class Main {
    /** Takes the path of a job file. */
    public static void main(String[] arguments) throws Exception {
        Job job = new ObjectMapper().readValue(new File(arguments[0]), Job.class);
        StreamsBuilder builder = new StreamsBuilder();
        Topologies.of(job, builder);
        Properties properties = properties(job);
        KafkaStreams streams = new KafkaStreams(builder.build(properties), properties);
        CountDownLatch ended = new CountDownLatch(1);
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            ended.countDown();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(java.time.Duration.ofSeconds(15))));
        streams.start();
        ended.await();
        Runtime.getRuntime().halt(3);
    }

    private static Properties properties(Job job) {
        Properties properties = new Properties();
        properties.put("application.id", job.applicationId);
        properties.put("bootstrap.servers", job.bootstrap);
        properties.put("processing.guarantee", job.guarantee);
        properties.put("num.stream.threads", String.valueOf(job.threads));
        properties.put("state.dir", job.stateDir);
        properties.put("topology.optimization", "all");
        properties.put("auto.offset.reset", "earliest");
        properties.put("commit.interval.ms", "1000");
        properties.put("producer.compression.type", "lz4");
        for (Map.Entry<String, String> setting : job.settings.entrySet()) {
            properties.put(setting.getKey(), setting.getValue());
        }
        return properties;
    }

    private Main() {}
}
