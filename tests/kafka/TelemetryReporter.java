import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.telemetry.ClientTelemetry;
import org.apache.kafka.server.telemetry.ClientTelemetryPayload;
import org.apache.kafka.server.telemetry.ClientTelemetryReceiver;
import org.apache.kafka.shaded.io.opentelemetry.proto.common.v1.KeyValue;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.Metric;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.MetricsData;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.ScopeMetrics;

/**
 * A broker's plug-in that takes the telemetry of clients, decodes it and appends what it saw to a file: a line for each
 * push, and one for each value behind it. `test.telemetry.file` names the file.
 */
public class TelemetryReporter implements MetricsReporter, ClientTelemetry, ClientTelemetryReceiver {
    private Path file;

    @Override
    public void configure(Map<String, ?> configs) {
        file = Path.of(String.valueOf(configs.get("test.telemetry.file")));
    }

    @Override
    public ClientTelemetryReceiver clientReceiver() {
        return this;
    }

    @Override
    public synchronized void exportMetrics(AuthorizableRequestContext context, ClientTelemetryPayload payload) {
        StringBuilder lines = new StringBuilder();
        try {
            MetricsData data = MetricsData.parseFrom(payload.data());
            for (ResourceMetrics part : data.getResourceMetricsList()) {
                line(lines, "push", payload.clientInstanceId(), context.clientId(), payload.isTerminating(),
                    labels(part.getResource().getAttributesList()));
                for (ScopeMetrics scope : part.getScopeMetricsList()) {
                    for (Metric metric : scope.getMetricsList()) {
                        boolean sum = metric.hasSum();
                        String kind = sum ? metric.getSum().getAggregationTemporality().name() : "GAUGE";
                        List<NumberDataPoint> points =
                            sum ? metric.getSum().getDataPointsList() : metric.getGauge().getDataPointsList();
                        for (NumberDataPoint point : points) {
                            line(lines, "value", metric.getName(), kind, point.getAsDouble(),
                                labels(point.getAttributesList()));
                        }
                    }
                }
            }
            Files.writeString(file, lines, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static void line(StringBuilder lines, Object... words) {
        for (int at = 0; at < words.length; at++) {
            lines.append(at == 0 ? "" : "\t").append(words[at]);
        }
        lines.append('\n');
    }

    private static String labels(List<KeyValue> attributes) {
        Map<String, String> found = new TreeMap<>();
        attributes.forEach(pair -> found.put(pair.getKey(), pair.getValue().getStringValue()));
        return found.toString();
    }

    @Override
    public void init(List<KafkaMetric> metrics) {
    }

    @Override
    public void metricChange(KafkaMetric metric) {
    }

    @Override
    public void metricRemoval(KafkaMetric metric) {
    }

    @Override
    public void close() {
    }
}
