// Runs Kafka's own range and round-robin assignors over groups read from standard input, for test_assignor_parity.py.
//
// One group per line: strategy;topic=partitions,...;member|instance or -|topic,topic;...
// One answer per line: member=topic:partition,...;member=...   (members in the order of the input, partitions sorted)

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

public class AssignGroups {
    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(answer(line.split(";")));
        }
    }

    private static String answer(String[] parts) {
        Node node = new Node(1, "localhost", 9092);
        List<PartitionInfo> partitions = new ArrayList<>();
        for (String topic : parts[1].split(",")) {
            String[] pair = topic.split("=");
            for (int i = 0; pair.length == 2 && i < Integer.parseInt(pair[1]); i++) {
                partitions.add(new PartitionInfo(pair[0], i, node, new Node[] {node}, new Node[] {node}));
            }
        }
        Cluster cluster =
            new Cluster("id", List.of(node), partitions, Collections.emptySet(), Collections.emptySet());
        Map<String, Subscription> members = new HashMap<>();
        List<String> order = new ArrayList<>();
        for (String text : Arrays.copyOfRange(parts, 2, parts.length)) {
            String[] fields = text.split("\\|");
            Subscription subscription = new Subscription(Arrays.asList(fields[2].split(",")));
            subscription.setGroupInstanceId(fields[1].equals("-") ? Optional.empty() : Optional.of(fields[1]));
            members.put(fields[0], subscription);
            order.add(fields[0]);
        }
        ConsumerPartitionAssignor assignor =
            parts[0].equals("range") ? new RangeAssignor() : new RoundRobinAssignor();
        Map<String, Assignment> found = assignor.assign(cluster, new GroupSubscription(members)).groupAssignment();
        List<String> answers = new ArrayList<>();
        for (String member : order) {
            List<TopicPartition> given = new ArrayList<>(found.get(member).partitions());
            given.sort(Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));
            List<String> words = new ArrayList<>();
            for (TopicPartition item : given) {
                words.add(item.topic() + ":" + item.partition());
            }
            answers.add(member + "=" + String.join(",", words));
        }
        return String.join(";", answers);
    }
}
