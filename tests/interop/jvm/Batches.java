import java.io.File;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** Prints the records of a log file as Java reads them, then batches that Java writes, one line per record or batch. */
public class Batches {
    public static void main(String[] arguments) throws Exception {
        try (FileRecords records = FileRecords.open(new File(arguments[0]))) {
            for (RecordBatch batch : records.batches()) {
                batch.ensureValid();
                for (Record record : batch) {
                    StringBuilder line = new StringBuilder("read\t" + batch.compressionType().id + "\t" + record.offset()
                        + "\t" + record.timestamp() + "\t" + text(record.key()) + "\t" + text(record.value()));
                    for (Header header : record.headers())
                        line.append("\t").append(header.key()).append("=").append(text(wrap(header.value())));
                    System.out.println(line);
                }
            }
        }
        SimpleRecord[] records = new SimpleRecord[500];
        for (int n = 0; n < records.length; n++) {
            Header[] headers = n % 2 == 0 ? new Header[0] : new Header[] {
                new RecordHeader("h", bytes("x" + n)), new RecordHeader("n", null)};
            byte[] key = n % 3 == 0 ? null : bytes("k" + n);
            byte[] value = n % 5 == 0 ? null : bytes("value ".repeat(n) + n);
            records[n] = new SimpleRecord(1700000000000L + n, key, value, headers);
        }
        for (CompressionType type : CompressionType.values()) {
            MemoryRecords batch = MemoryRecords.withRecords(Compression.of(type).build(), records);
            System.out.println("wrote\t" + type.id + "\t" + text(batch.buffer()));
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static ByteBuffer wrap(byte[] data) {
        return data == null ? null : ByteBuffer.wrap(data);
    }

    private static String text(ByteBuffer data) {
        if (data == null) return "null";
        byte[] copy = new byte[data.remaining()];
        data.duplicate().get(copy);
        return Base64.getEncoder().encodeToString(copy);
    }
}
