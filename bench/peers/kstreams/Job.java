package bench;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Map;

/** One run, as the harness writes it down. */
@JsonIgnoreProperties(ignoreUnknown = true)
public final class Job {
    @JsonProperty("workload") public String workload;
    @JsonProperty("application_id") public String applicationId;
    @JsonProperty("bootstrap") public String bootstrap;
    @JsonProperty("inputs") public Map<String, String> inputs;
    @JsonProperty("output") public String output;
    @JsonProperty("threads") public int threads;
    @JsonProperty("guarantee") public String guarantee;
    @JsonProperty("state_dir") public String stateDir;
    @JsonProperty("settings") public Map<String, String> settings;
}
