import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/**
 * Avro in Java for batches of cases. Lines in: `S`, writer's schema, reader's schema (tabs between); `V`, payload in hex.
 * For every `V` a line out: the value as written, as the reader's schema has it (`!` and why if it can't be), and the
 * value encoded again. Numbers of logical types stay numbers.
 */
public final class AvroCases {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Schema writer = null;
        Schema reader = null;
        GenericDatumReader<Object> same = null;
        GenericDatumReader<Object> resolving = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            if (parts[0].equals("S")) {
                writer = new Schema.Parser().parse(parts[1]);
                reader = new Schema.Parser().parse(parts[2]);
                same = new GenericDatumReader<>(writer);
                resolving = new GenericDatumReader<>(writer, reader);
                continue;
            }
            byte[] payload = HEX.parseHex(parts[1]);
            String written;
            String again;
            try {
                Object value = read(same, payload);
                written = text(writer, value);
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
                new GenericDatumWriter<Object>(writer).write(value, encoder);
                encoder.flush();
                again = HEX.formatHex(bytes.toByteArray());
            } catch (Exception error) {
                written = refusal(error);
                again = "";
            }
            String resolved;
            try {
                resolved = text(reader, read(resolving, payload));
            } catch (Exception error) {
                resolved = refusal(error);
            }
            out.println(written + "\t" + resolved + "\t" + again);
        }
        out.flush();
    }

    private static String refusal(Exception error) {
        return "!" + error.getClass().getSimpleName() + ": " + String.valueOf(error.getMessage()).replaceAll("\\s+", " ");
    }

    private static Object read(GenericDatumReader<Object> reader, byte[] payload) throws Exception {
        BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(payload, null);
        Object value = reader.read(null, decoder);
        if (!decoder.isEnd()) {
            throw new IllegalStateException("bytes are left over");
        }
        return value;
    }

    private static String text(Schema schema, Object value) {
        StringBuilder out = new StringBuilder();
        put(out, schema, value);
        return out.toString();
    }

    private static void put(StringBuilder out, Schema schema, Object value) {
        switch (schema.getType()) {
            case NULL -> out.append('n');
            case BOOLEAN -> out.append((Boolean) value ? 't' : 'f');
            case INT, LONG -> out.append('i').append(value);
            case FLOAT -> out.append('f').append(Integer.toHexString(Float.floatToIntBits((Float) value)));
            case DOUBLE -> out.append('d').append(Long.toHexString(Double.doubleToLongBits((Double) value)));
            case STRING -> out.append('s').append(HEX.formatHex(value.toString().getBytes(StandardCharsets.UTF_8)));
            case BYTES -> out.append('b').append(HEX.formatHex(bytes((ByteBuffer) value)));
            case FIXED -> out.append('b').append(HEX.formatHex(((GenericData.Fixed) value).bytes()));
            case ENUM -> out.append('e').append(value);
            case ARRAY -> {
                out.append('[');
                for (Object item : (Iterable<?>) value) {
                    put(out, schema.getElementType(), item);
                    out.append(',');
                }
                out.append(']');
            }
            case MAP -> {
                TreeMap<String, Object> sorted = new TreeMap<>();
                for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                    sorted.put(HEX.formatHex(entry.getKey().toString().getBytes(StandardCharsets.UTF_8)), entry.getValue());
                }
                out.append('{');
                sorted.forEach((key, item) -> {
                    out.append(key).append('=');
                    put(out, schema.getValueType(), item);
                    out.append(',');
                });
                out.append('}');
            }
            case RECORD -> {
                out.append('(');
                for (Schema.Field field : schema.getFields()) {
                    out.append(field.name()).append('=');
                    put(out, field.schema(), ((IndexedRecord) value).get(field.pos()));
                    out.append(',');
                }
                out.append(')');
            }
            case UNION -> {
                int place = GenericData.get().resolveUnion(schema, value);
                out.append('u').append(place).append(':');
                put(out, schema.getTypes().get(place), value);
            }
        }
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] made = new byte[buffer.remaining()];
        buffer.duplicate().get(made);
        return made;
    }
}
