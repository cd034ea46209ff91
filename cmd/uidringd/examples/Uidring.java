import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * Draws ids from one generator of a uidring server, with the JDK alone. Threads may
 * share it.
 *
 * <pre>
 * Uidring ids = new Uidring("http://127.0.0.1:8080", "ids", null);
 * ids.next();     // one id
 * ids.next(100);  // 100 ids, in one request
 * </pre>
 *
 * As a program it prints N ids: java Uidring.java URL NAME N. A token is read from the
 * environment variable UIDRING_TOKEN.
 */
public class Uidring {
    private final HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
    private final String url;
    private final String token;

    /** token is null if the server wants none. */
    public Uidring(String url, String name, String token) {
        this.url = url + "/v1/" + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20") + "?n=";
        this.token = token;
    }

    /** Returns an id. Throws IOException if the server refuses or cannot be reached. */
    public long next() throws IOException, InterruptedException {
        return next(1)[0];
    }

    /** Returns n ids. A server allows 10,000 at once by default. */
    public long[] next(int n) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + n))
                .timeout(Duration.ofSeconds(5)).header("Accept", "text/plain");
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) { // the body says what was wrong
            throw new IOException(url + n + ": status " + response.statusCode() + ": " + response.body());
        }
        return response.body().lines().mapToLong(Long::parseLong).toArray();
    }

    public static void main(String[] args) throws Exception {
        Uidring ids = new Uidring(args[0], args[1], System.getenv("UIDRING_TOKEN"));
        System.out.println(ids.next());
        for (long id : ids.next(Integer.parseInt(args[2]) - 1)) {
            System.out.println(id);
        }
    }
}
