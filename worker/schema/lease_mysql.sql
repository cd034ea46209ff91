-- One row a leased worker number; rows below 0 count those of ranges. Instants are milliseconds since 1970 UTC, those
-- of heartbeat_at and created by this database's clock.
CREATE TABLE IF NOT EXISTS WORKER_LEASE (
  worker_id      BIGINT      NOT NULL PRIMARY KEY,
  token          VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- of the last write
  reserved_until BIGINT      NOT NULL, -- ticks that begin before it may be stamped (in rows below 0, the next new number)
  heartbeat_at   BIGINT      NOT NULL, -- 0 when given back
  host           VARCHAR(64) NOT NULL,
  port           VARCHAR(64) NOT NULL,
  type           INT         NOT NULL, -- 1 container, 2 actual
  created        BIGINT      NOT NULL
) ENGINE = InnoDB
