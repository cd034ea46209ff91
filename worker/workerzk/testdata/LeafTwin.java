import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * A service that takes its worker number as Leaf-snowflake does, with ZooKeeper's own
 * client. Arguments: servers, leaf.name, ip, port. It prints "worker N", or "refused" and
 * why. For each line of its input it prints the nodes, as "node NUMBER IP PORT TIMESTAMP",
 * and "end". It ends with its input.
 */
public class LeafTwin {
    // What Leaf's mapper accepts: these fields and no other, in any order.
    private static final Pattern FIELD = Pattern.compile("\"(ip|port)\":\"([^\"\\\\]*)\"|\"(timestamp)\":(\\d+)");

    record Endpoint(String ip, String port, long timestamp) {
        static Endpoint read(byte[] data) {
            String text = new String(data, StandardCharsets.UTF_8);
            String ip = null, port = null, timestamp = null;
            if (!text.startsWith("{") || !text.endsWith("}")) {
                throw new IllegalArgumentException("no object: " + text);
            }
            for (String field : text.substring(1, text.length() - 1).split(",")) {
                Matcher m = FIELD.matcher(field);
                if (!m.matches()) {
                    throw new IllegalArgumentException("unknown field " + field + " in " + text);
                }
                if (m.group(3) != null) {
                    timestamp = m.group(4);
                } else if (m.group(1).equals("ip")) {
                    ip = m.group(2);
                } else {
                    port = m.group(2);
                }
            }
            return new Endpoint(ip, port, Long.parseLong(timestamp));
        }

        byte[] write() {
            return ("{\"ip\":\"" + ip + "\",\"port\":\"" + port + "\",\"timestamp\":" + timestamp + "}").getBytes(StandardCharsets.UTF_8);
        }
    }

    public static void main(String[] args) throws Exception {
        String forever = "/snowflake/" + args[1] + "/forever", address = args[2] + ":" + args[3];
        CountDownLatch session = new CountDownLatch(1);
        ZooKeeper zk = new ZooKeeper(args[0], 6000, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                session.countDown();
            }
        });
        session.await();
        String own = null;
        if (zk.exists(forever, false) == null) {
            for (int i = forever.indexOf('/', 1); i > 0; i = forever.indexOf('/', i + 1)) {
                make(zk, forever.substring(0, i));
            }
            make(zk, forever);
        } else {
            for (String name : zk.getChildren(forever, false)) {
                if (name.split("-")[0].equals(address)) {
                    own = forever + "/" + name;
                }
            }
        }
        if (own == null) {
            byte[] data = new Endpoint(args[2], args[3], System.currentTimeMillis()).write();
            own = zk.create(forever + "/" + address + "-", data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
        } else if (Endpoint.read(zk.getData(own, false, null)).timestamp() > System.currentTimeMillis()) {
            System.out.println("refused: the timestamp of " + own + " lies ahead of the clock");
            zk.close();
            return;
        }
        System.out.println("worker " + Integer.parseInt(own.split("-")[1]));

        String path = own;
        ScheduledExecutorService reports = Executors.newSingleThreadScheduledExecutor(run -> {
            Thread thread = new Thread(run);
            thread.setDaemon(true); // whatever goes wrong ends the process
            return thread;
        });
        reports.scheduleWithFixedDelay(() -> {
            try {
                zk.setData(path, new Endpoint(args[2], args[3], System.currentTimeMillis()).write(), -1);
            } catch (Exception e) {
                e.printStackTrace();
            }
        }, 1, 3, TimeUnit.SECONDS);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            List<String> names = zk.getChildren(forever, false);
            for (String name : names) {
                Endpoint e = Endpoint.read(zk.getData(forever + "/" + name, false, null));
                System.out.println("node " + Integer.parseInt(name.split("-")[1]) + " " + e.ip() + " " + e.port() + " " + e.timestamp());
            }
            System.out.println("end");
        }
        reports.shutdown();
        reports.awaitTermination(1, TimeUnit.MINUTES);
        zk.close();
    }

    private static void make(ZooKeeper zk, String path) throws Exception {
        try {
            zk.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            // another service was first
        }
    }
}
