import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;

/**
 * A KDC on 127.0.0.1 until its standard input ends; the lines "stop" and "start" there stop and start it, and are answered
 * when that is done. Arguments: realm, port, folder, then principals, each with a keytab there.
 */
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
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("stop")) {
                kdc.stop();
            } else {
                kdc.start();
            }
            System.out.println("ready");
        }
    }
}
