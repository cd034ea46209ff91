import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/**
 * Draws ids from one generator of a uidring server, with the JDK alone. Threads may
 * share it.
 *
 * <pre>
 * Uidring ids = new Uidring("https://ids.example.com", "orders", token);
 * ids.next();     // one id
 * ids.next(100);  // 100 ids, in one request
 * </pre>
 *
 * As a program it prints N ids: java Uidring.java URL NAME N. A token is read from the
 * environment variable UIDRING_TOKEN.
 */
public class Uidring {
    private static final int TIMEOUT = 5_000; // milliseconds for a request
    private static final int TRIES = 3; // requests for an answer, while the server is busy
    private static final int LONGEST_WAIT = 5; // seconds to wait for a busy server; one that asks for more is an error

    private final String url;
    private final String token;

    private record Answer(int status, String retry, String body) {}

    /** token is null or empty if the server wants none. */
    public Uidring(String url, String name, String token) {
        URI server = URI.create(url);
        this.token = token == null || token.isEmpty() ? null : token;
        if (this.token != null && !"https".equals(server.getScheme())
                && !Set.of("localhost", "127.0.0.1", "[::1]").contains(String.valueOf(server.getHost()))) {
            throw new IllegalArgumentException(url + ": want https, since others could read the token");
        }
        if (this.token != null && !token.matches("[!-~]+")) {
            throw new IllegalArgumentException("the token is not shown: want printable ASCII without spaces");
        }
        this.url = url.replaceAll("/+$", "") + "/v1/" + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20") + "?n=";
    }

    /** Returns an id. Throws IOException if the server refuses or cannot be reached. */
    public long next() throws IOException, InterruptedException {
        return next(1)[0];
    }

    /** Returns n ids. A server allows 10,000 at once by default. */
    public long[] next(int n) throws IOException, InterruptedException {
        for (int tries = 1; ; tries++) {
            Answer answer = get(url + n, 4096 + 20L * n);
            if (answer.status == 200) {
                return read(answer.body, n);
            }
            String retry = String.valueOf(answer.retry);
            int wait = retry.matches("[0-9]{1,9}") ? Integer.parseInt(retry) : 1;
            if (answer.status != 429 && answer.status != 503 || tries == TRIES || wait > LONGEST_WAIT) {
                throw new IOException(url + n + ": status " + answer.status + ": " + start(answer.body, 300));
            }
            Thread.sleep(1000L * wait);
        }
    }

    private long[] read(String body, int n) throws IOException {
        String[] lines = body.split("\n", -1); // nothing stands behind the last line's end
        long[] ids = new long[n];
        try {
            for (int i = 0; i < n; i++) {
                ids[i] = lines[i].matches("[1-9][0-9]*") ? Long.parseLong(lines[i]) : Long.parseLong("");
            }
            if (lines.length == n + 1 && lines[n].isEmpty()) {
                return ids;
            }
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            // no ids
        }
        throw new IOException(url + n + ": the answer is not " + n + " ids: " + start(body, 80));
    }

    /** Returns an answer of most bytes at most. A redirect is none: it could send the token to another host. */
    private Answer get(String url, long most) throws IOException {
        long end = System.nanoTime() + TIMEOUT * 1_000_000L;
        HttpURLConnection connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
        connection.setInstanceFollowRedirects(false);
        connection.setConnectTimeout(TIMEOUT);
        connection.setReadTimeout(TIMEOUT);
        connection.setRequestProperty("Accept", "text/plain");
        if (token != null) {
            connection.setRequestProperty("Authorization", "Bearer " + token);
        }
        try {
            int status = connection.getResponseCode();
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream();
            byte[] part = new byte[4096];
            for (int got; in != null && (got = in.read(part)) > 0; body.write(part, 0, got)) {
                if (body.size() + got > most) {
                    throw new IOException("more than " + most + " bytes");
                }
                if (System.nanoTime() > end) {
                    throw new IOException("timed out");
                }
            }
            if (body.size() < connection.getContentLengthLong()) {
                throw new IOException("the answer is truncated");
            }
            return new Answer(status, connection.getHeaderField("Retry-After"), body.toString(StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            connection.disconnect();
            throw new IOException(url + ": " + e, e);
        }
    }

    private static String start(String text, int most) {
        return text.substring(0, Math.min(most, text.length()));
    }

    public static void main(String[] args) throws InterruptedException {
        if (args.length != 3 || !args[2].matches("[1-9][0-9]{0,8}")) {
            System.err.println("usage: java Uidring.java URL NAME N");
            System.exit(2);
        }
        try {
            Uidring ids = new Uidring(args[0], args[1], System.getenv("UIDRING_TOKEN"));
            System.out.println(ids.next());
            int rest = Integer.parseInt(args[2]) - 1;
            for (long id : rest > 0 ? ids.next(rest) : new long[0]) {
                System.out.println(id);
            }
        } catch (IOException | IllegalArgumentException e) {
            System.err.println("uidring: " + e.getMessage());
            System.exit(1);
        }
    }
}
