// Writes every Kafka message in every version with the classes of the real kafka-clients jar, one line each:
//   message <TAB> version <TAB> variant <TAB> values as JSON <TAB> bytes as hex
// and the facts about each API:  #api <TAB> key <TAB> version <TAB> request header <TAB> response header <TAB> unstable
// Values are pseudo-random from a fixed seed, chosen through the schemas, so only fields of the version are set.
// Run: java -cp 'jars/*' DumpMessages.java

import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.record.internal.BaseRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.UnalignedMemoryRecords;

public class DumpMessages {
    enum Variant { DEFAULT, NULL, SMALL, LARGE }

    static final String[] DATA_MESSAGES = {
        "ConsumerProtocolAssignment", "ConsumerProtocolSubscription", "ControlRecordTypeSchema", "DefaultPrincipalData",
        "EndTxnMarker", "KRaftVersionRecord", "LeaderChangeMessage", "RequestHeaderData", "ResponseHeaderData",
        "SnapshotFooterRecord", "SnapshotHeaderRecord", "VotersRecord"};

    final Variant variant;
    final Random random;

    DumpMessages(Variant variant, long seed) {
        this.variant = variant;
        this.random = new Random(seed);
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 20), false, StandardCharsets.UTF_8);
        for (ApiMessageType api : ApiMessageType.values()) {
            if (api.lowestSupportedVersion() > api.highestSupportedVersion(true)) {
                continue;
            }
            for (short v = api.lowestSupportedVersion(); v <= api.highestSupportedVersion(true); v++) {
                out.printf("#api\t%d\t%d\t%d\t%d\t%b%n", api.apiKey(), v, api.requestHeaderVersion(v),
                    api.responseHeaderVersion(v), v > api.highestSupportedVersion(false));
            }
            dump(out, api.newRequest().getClass());
            dump(out, api.newResponse().getClass());
        }
        for (String name : DATA_MESSAGES) {
            dump(out, Class.forName("org.apache.kafka.common.message." + name));
        }
        out.flush();
    }

    static void dump(PrintStream out, Class<?> type) throws Exception {
        Schema[] schemas = (Schema[]) type.getField("SCHEMAS").get(null);
        short last = type.getField("HIGHEST_SUPPORTED_VERSION").getShort(null);
        for (short version = type.getField("LOWEST_SUPPORTED_VERSION").getShort(null); version <= last; version++) {
            for (Variant variant : Variant.values()) {
                long seed = (type.getSimpleName() + version + variant).hashCode();
                Message message = (Message) new DumpMessages(variant, seed).fill(type, schemas[version]);
                String name = type.getSimpleName().replaceAll("(Request|Response|Header)Data$", "$1");
                out.printf("%s\t%d\t%s\t%s\t%s%n", name, version, variant, json(message, version), hex(message, version));
            }
        }
    }

    static String json(Message message, short version) throws Exception {
        Class<?> converter = Class.forName(message.getClass().getName() + "JsonConverter");
        Method write = converter.getMethod("write", message.getClass(), short.class, boolean.class);
        return write.invoke(null, message, version, false).toString();
    }

    static String hex(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new Accessor(buffer), cache, version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException("size and write disagree");
        }
        return HexFormat.of().formatHex(buffer.array());
    }

    // The plain accessor refuses unaligned records, which brokers send from a file.
    static class Accessor extends ByteBufferAccessor {
        Accessor(ByteBuffer buffer) {
            super(buffer);
        }

        @Override
        public void writeRecords(BaseRecords records) {
            if (records instanceof UnalignedMemoryRecords unaligned) {
                writeByteBuffer(unaligned.buffer().duplicate());
            } else {
                super.writeRecords(records);
            }
        }
    }

    Object fill(Class<?> type, Schema schema) throws Exception {
        Object struct = type.getDeclaredConstructor().newInstance();
        for (BoundField bound : schema.fields()) {
            if (bound.def.type instanceof TaggedFields tagged) {
                for (org.apache.kafka.common.protocol.types.Field field : tagged.fields().values()) {
                    set(struct, field);
                }
                if (variant == Variant.LARGE) {
                    List<RawTaggedField> unknown = ((Message) struct).unknownTaggedFields();
                    unknown.add(new RawTaggedField(5000, "unknown".getBytes(StandardCharsets.UTF_8)));
                    unknown.add(new RawTaggedField(700000, new byte[0]));
                }
            } else {
                set(struct, bound.def);
            }
        }
        return struct;
    }

    void set(Object struct, org.apache.kafka.common.protocol.types.Field definition) throws Exception {
        String wanted = definition.name.replace("_", "");
        for (Field field : struct.getClass().getDeclaredFields()) {
            if (field.getName().equalsIgnoreCase(wanted)) {
                field.setAccessible(true);
                boolean nullable = definition.type.isNullable();
                boolean missingRecords = BaseRecords.class.isAssignableFrom(field.getType()) && !nullable;
                if (variant == Variant.DEFAULT && !missingRecords) {
                    return;
                }
                field.set(struct, value(field.getGenericType(), definition.type, nullable));
                return;
            }
        }
        throw new IllegalStateException(struct.getClass() + " has no field " + definition.name);
    }

    Object value(Type type, org.apache.kafka.common.protocol.types.Type wire, boolean nullable) throws Exception {
        if (nullable && (variant == Variant.NULL || random.nextInt(8) == 0)) {
            return null;
        }
        Class<?> raw = (Class<?>) (type instanceof ParameterizedType generic ? generic.getRawType() : type);
        if (wire.isArray()) {
            return array(type, raw, wire.arrayElementType().get());
        }
        if (raw == boolean.class || raw == Boolean.class) {
            return random.nextBoolean();
        }
        if (raw == byte.class || raw == Byte.class) {
            return (byte) number();
        }
        if (raw == short.class || raw == Short.class) {
            return (short) number();
        }
        if (raw == int.class || raw == Integer.class) {
            return wire == org.apache.kafka.common.protocol.types.Type.UINT16 ? (int) number() & 0xFFFF : (int) number();
        }
        if (raw == long.class || raw == Long.class) {
            return number();
        }
        if (raw == double.class) {
            return random.nextGaussian();
        }
        if (raw == Uuid.class) {
            return new Uuid(random.nextLong(), random.nextLong());
        }
        if (raw == String.class) {
            return string();
        }
        if (raw == byte[].class) {
            return bytes();
        }
        if (raw == ByteBuffer.class) {
            return ByteBuffer.wrap(bytes());
        }
        if (raw == MemoryRecords.class || raw == BaseRecords.class) {
            ByteBuffer buffer = ByteBuffer.wrap(records());
            return nullable ? MemoryRecords.readableRecords(buffer) : new UnalignedMemoryRecords(buffer);
        }
        return fill(raw, (Schema) wire);
    }

    @SuppressWarnings("unchecked")
    Object array(Type type, Class<?> raw, org.apache.kafka.common.protocol.types.Type wire) throws Exception {
        Collection<Object> elements;
        Type element;
        if (type instanceof ParameterizedType generic) {
            elements = new ArrayList<>();
            element = generic.getActualTypeArguments()[0];
        } else {
            elements = (Collection<Object>) raw.getDeclaredConstructor().newInstance();
            element = ((ParameterizedType) raw.getGenericSuperclass()).getActualTypeArguments()[0];
        }
        int count = variant == Variant.NULL ? 1 : variant == Variant.SMALL ? random.nextInt(3) : 2;
        if (variant == Variant.LARGE && !(wire instanceof Schema)) {
            count = random.nextInt(4) == 0 ? 140 : 3;
        }
        for (int i = 0; i < count; i++) {
            elements.add(value(element, wire, false));
        }
        return elements;
    }

    long number() {
        return variant == Variant.SMALL ? random.nextInt(100) : random.nextLong();
    }

    String string() {
        int length = variant == Variant.LARGE && random.nextInt(6) == 0 ? 200 : random.nextInt(12);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.appendCodePoint(random.nextInt(10) == 0 ? new int[] {0xE9, 0x4E2D, 0x1D11E, 0}[i % 4] : 'a' + i % 26);
        }
        return text.toString();
    }

    // JSON shows the size of records only, so their contents follow from it.
    byte[] records() {
        byte[] data = new byte[bytes().length];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (i * 7 + data.length);
        }
        return data;
    }

    byte[] bytes() {
        byte[] data = new byte[variant == Variant.LARGE ? 300 : random.nextInt(5)];
        random.nextBytes(data);
        return data;
    }
}
