import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;

/**
 * Draws ids from a row of leaf_alloc as Leaf does: the transaction, two buffers, and a
 * step that doubles from the third load on.
 *
 * Arguments: the URL of the database, the table, the tag, and how many ids. It prints
 * "ready", waits for the end of standard input, and prints the ids.
 */
public class LeafTwin {
    static final long GREATEST_STEP = 1_000_000;

    final Connection database;
    final String table, tag;
    long step;
    int loads;

    /** The ids from first up to but not including end. */
    record Range(long first, long end) {}

    LeafTwin(String url, String table, String tag) throws SQLException {
        database = DriverManager.getConnection(url);
        database.setAutoCommit(false);
        this.table = table;
        this.tag = tag;
    }

    Range load() {
        try {
            boolean adapted = ++loads > 2;
            if (adapted && 2 * step <= GREATEST_STEP) {
                step *= 2;
            }
            execute("UPDATE " + table + " SET max_id = max_id + " + (adapted ? step : "step") + " WHERE biz_tag = ?");
            try (ResultSet row = execute("SELECT biz_tag, max_id, step FROM " + table + " WHERE biz_tag = ?").getResultSet()) {
                row.next();
                if (!adapted) {
                    step = row.getLong("step");
                }
                Range range = new Range(row.getLong("max_id") - step, row.getLong("max_id"));
                database.commit();
                return range;
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    PreparedStatement execute(String statement) throws SQLException {
        PreparedStatement prepared = database.prepareStatement(statement);
        prepared.setString(1, tag);
        prepared.execute();
        return prepared;
    }

    void draw(int n, StringBuilder printed) {
        Range range = load();
        CompletableFuture<Range> next = null;
        for (long id = range.first; n > 0; n--) {
            if (next == null && (id == range.end || id - range.first > (range.end - range.first) / 10)) {
                next = CompletableFuture.supplyAsync(this::load);
            }
            if (id == range.end) {
                range = next.join();
                next = null;
                id = range.first;
            }
            printed.append(id++).append('\n');
        }
        if (next != null) {
            next.join(); // its ids are lost, as those of Leaf at its end
        }
    }

    public static void main(String[] args) throws Exception {
        LeafTwin twin = new LeafTwin(args[0], args[1], args[2]);
        StringBuilder printed = new StringBuilder();
        System.out.println("ready");
        System.in.readAllBytes();
        twin.draw(Integer.parseInt(args[3]), printed);
        System.out.print(printed);
        twin.database.close();
    }
}
