import java.io.File;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;

/** A KDC on 127.0.0.1 until its standard input ends. Arguments: realm, port, folder, then principals, each with a keytab there. */
public final class Kdc {
    public static void main(String[] args) throws Exception {
        SimpleKdcServer kdc = new SimpleKdcServer();
        kdc.setKdcRealm(args[0]);
        kdc.setKdcHost("127.0.0.1");
        kdc.setKdcTcpPort(Integer.parseInt(args[1]));
        kdc.setAllowUdp(false);
        File folder = new File(args[2]);
        kdc.setWorkDir(folder);
        kdc.init();
        for (int at = 3; at < args.length; at++) {
            String principal = args[at] + "@" + args[0];
            kdc.createPrincipal(principal, "secret of " + principal);
            kdc.exportPrincipal(principal, new File(folder, args[at].replace('/', '.') + ".keytab"));
        }
        kdc.start();
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
        kdc.stop();
    }
}
