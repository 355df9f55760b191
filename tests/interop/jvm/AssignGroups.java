// Runs Kafka's own assignors over groups read from standard input, for test_assignor_parity.py.
//
// One group per line: strategy;topic=racks/racks/...,...;member|instance or -|rack or -|topic,topic;...
// Of each partition the racks of its replicas, like a.b, or - for a replica without one.
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
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
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
        List<PartitionInfo> partitions = new ArrayList<>();
        for (String topic : parts[1].split(",")) {
            String[] pair = topic.split("=");
            String[] places = pair.length == 2 ? pair[1].split("/") : new String[0];
            for (int i = 0; i < places.length; i++) {
                Node[] replicas = Arrays.stream(places[i].split("\\.")).map(AssignGroups::node).toArray(Node[]::new);
                partitions.add(new PartitionInfo(pair[0], i, replicas[0], replicas, replicas));
            }
        }
        List<Node> nodes = partitions.stream().map(PartitionInfo::leader).distinct().toList();
        Cluster cluster = new Cluster("id", nodes, partitions, Collections.emptySet(), Collections.emptySet());
        Map<String, Subscription> members = new HashMap<>();
        List<String> order = new ArrayList<>();
        for (String text : Arrays.copyOfRange(parts, 2, parts.length)) {
            String[] fields = text.split("\\|");
            Optional<String> rack = fields[2].equals("-") ? Optional.empty() : Optional.of(fields[2]);
            Subscription subscription =
                new Subscription(Arrays.asList(fields[3].split(",")), null, Collections.emptyList(), -1, rack);
            subscription.setGroupInstanceId(fields[1].equals("-") ? Optional.empty() : Optional.of(fields[1]));
            members.put(fields[0], subscription);
            order.add(fields[0]);
        }
        ConsumerPartitionAssignor assignor = switch (parts[0]) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            default -> new CooperativeStickyAssignor();
        };
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

    private static Node node(String rack) {
        return new Node(rack.hashCode(), "localhost", 9092, rack.equals("-") ? null : rack);
    }
}
