// Clients of Kafka in Java, driven line by line from standard input, for test_clients_java.py.
//
// Each command is answered by "done COMMAND NAME", after what it tells; members tell what they get while they run.
//   member NAME TOPIC key=value...       a consumer of a group: "owns NAME 0,1" and "got NAME VALUE", told when committed
//   share NAME TOPIC key=value...        a member of a share group: "got NAME VALUE", told when it was accepted
//   stop NAME                            ends a member
//   write NAME TOPIC commit|abort V...   a transaction of the producer NAME, written to partition 0
//   pipe NAME FROM TO GROUP COUNT        copies COUNT records in one transaction, with the group's offsets
//   read NAME TOPIC COUNT                "got NAME VALUE" for the first COUNT records of read_committed

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class Clients {
    private static final Duration WAIT = Duration.ofMillis(200);
    private static final Map<String, Thread> MEMBERS = new ConcurrentHashMap<>();
    private static final Map<String, KafkaProducer<String, String>> PRODUCERS = new HashMap<>();
    private static String servers;

    public static void main(String[] args) throws Exception {
        servers = args[0];
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            try {
                obey(words);
                tell("done", words[0], words[1]);
            } catch (Exception error) {
                tell("failed", words[0], words[1], error.toString());
            }
        }
        System.exit(0);
    }

    private static void obey(String[] words) throws Exception {
        String name = words[1];
        switch (words[0]) {
            case "member" -> begin(name, () -> consume(name, words[2], conf(words, 3)));
            case "share" -> begin(name, () -> share(name, words[2], conf(words, 3)));
            case "stop" -> MEMBERS.remove(name).join();
            case "write" -> write(name, words[2], words[3].equals("commit"), Arrays.copyOfRange(words, 4, words.length));
            case "pipe" -> pipe(name, words[2], words[3], words[4], Integer.parseInt(words[5]));
            case "read" -> read(name, words[2], Integer.parseInt(words[3]));
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private static synchronized void tell(String... words) {
        System.out.println(String.join(" ", words));
        System.out.flush();
    }

    private static Properties conf(String[] words, int from) {
        Properties found = new Properties();
        found.put("bootstrap.servers", servers);
        found.put("key.deserializer", StringDeserializer.class.getName());
        found.put("value.deserializer", StringDeserializer.class.getName());
        for (int i = from; i < words.length; i++) {
            String[] pair = words[i].split("=");
            found.put(pair[0], pair[1]);
        }
        return found;
    }

    // ---- members

    private static void begin(String name, Runnable work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (RuntimeException error) {
                tell("failed", "member", name, error.toString());
            }
        });
        MEMBERS.put(name, thread);
        thread.start();
    }

    private static boolean runs(String name) {
        return MEMBERS.containsKey(name);
    }

    private static void consume(String name, String topic, Properties conf) {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(conf)) {
            consumer.subscribe(List.of(topic));
            String owned = "";
            Map<TopicPartition, List<String>> got = new HashMap<>();
            while (runs(name)) {
                ConsumerRecords<String, String> records = consumer.poll(WAIT);
                got.keySet().retainAll(consumer.assignment());
                for (ConsumerRecord<String, String> record : records) {
                    TopicPartition place = new TopicPartition(record.topic(), record.partition());
                    got.computeIfAbsent(place, each -> new ArrayList<>()).add(record.value());
                }
                try {
                    consumer.commitSync();
                } catch (RebalanceInProgressException error) {
                    continue; // the leader takes its time: what stays here is committed after the next poll
                }
                got.values().forEach(values -> values.forEach(value -> tell("got", name, value)));
                got.clear();
                String now = consumer.assignment().stream().map(TopicPartition::partition)
                    .collect(Collectors.toCollection(TreeSet::new)).stream()
                    .map(String::valueOf).collect(Collectors.joining(","));
                if (!now.equals(owned)) {
                    owned = now;
                    tell("owns", name, now);
                }
            }
        }
    }

    private static void share(String name, String topic, Properties conf) {
        try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(conf)) {
            consumer.subscribe(List.of(topic));
            while (runs(name)) {
                ConsumerRecords<String, String> records = consumer.poll(WAIT);
                Map<TopicIdPartition, Optional<KafkaException>> answers = consumer.commitSync();
                if (answers.values().stream().allMatch(Optional::isEmpty)) {
                    records.forEach(record -> tell("got", name, record.value()));
                }
            }
        }
    }

    // ---- transactions

    private static KafkaProducer<String, String> producer(String name) {
        return PRODUCERS.computeIfAbsent(name, id -> {
            Properties conf = new Properties();
            conf.put("bootstrap.servers", servers);
            conf.put("transactional.id", id);
            conf.put("key.serializer", StringSerializer.class.getName());
            conf.put("value.serializer", StringSerializer.class.getName());
            KafkaProducer<String, String> made = new KafkaProducer<>(conf);
            made.initTransactions();
            return made;
        });
    }

    private static void write(String name, String topic, boolean commits, String[] values) {
        KafkaProducer<String, String> producer = producer(name);
        producer.beginTransaction();
        for (String value : values) {
            producer.send(new ProducerRecord<>(topic, 0, null, value));
        }
        producer.flush();
        if (commits) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }

    private static void pipe(String name, String from, String to, String group, int count) {
        String[] settings = {
            "group.id=" + group, "auto.offset.reset=earliest", "enable.auto.commit=false", "max.poll.records=1",
            "isolation.level=read_committed"
        };
        KafkaProducer<String, String> producer = producer(name);
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(conf(settings, 0))) {
            consumer.subscribe(List.of(from));
            producer.beginTransaction();
            Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
            int done = 0;
            while (done < count) {
                for (ConsumerRecord<String, String> record : consumer.poll(WAIT)) {
                    producer.send(new ProducerRecord<>(to, 0, null, record.value()));
                    TopicPartition place = new TopicPartition(record.topic(), record.partition());
                    positions.put(place, new OffsetAndMetadata(record.offset() + 1));
                    done++;
                }
            }
            producer.sendOffsetsToTransaction(positions, consumer.groupMetadata());
            producer.commitTransaction();
        }
    }

    private static void read(String name, String topic, int count) {
        String[] settings = {"auto.offset.reset=earliest", "isolation.level=read_committed"};
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(conf(settings, 0))) {
            List<TopicPartition> all = consumer.partitionsFor(topic).stream()
                .map(info -> new TopicPartition(topic, info.partition())).collect(Collectors.toList());
            consumer.assign(all);
            consumer.seekToBeginning(all);
            for (int found = 0; found < count; ) {
                for (ConsumerRecord<String, String> record : consumer.poll(WAIT)) {
                    tell("got", name, record.value());
                    found++;
                }
            }
        }
    }
}
