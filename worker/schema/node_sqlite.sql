-- uid-generator's table. The key of a new row is a new worker number. Row -1 has the layout of all ids.
-- SQLite numbers only an INTEGER key, which has 64 bits as BIGINT has, and
-- only AUTOINCREMENT keeps it from giving a deleted row's number again.
CREATE TABLE IF NOT EXISTS WORKER_NODE (
  ID          INTEGER     NOT NULL PRIMARY KEY AUTOINCREMENT,
  HOST_NAME   VARCHAR(64) NOT NULL,
  PORT        VARCHAR(64) NOT NULL,
  TYPE        INT         NOT NULL, -- 1 container, 2 actual; in row -1, 3 if numbers are drawn, 4 if they are divided
  LAUNCH_DATE DATE        NOT NULL,
  MODIFIED    TIMESTAMP   NOT NULL,
  CREATED     TIMESTAMP   NOT NULL
)
