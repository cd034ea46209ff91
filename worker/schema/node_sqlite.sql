-- uid-generator's table. One row a start; the key is the worker number. Row -1 has the layout.
-- SQLite numbers only an INTEGER key, which has 64 bits as BIGINT has, and
-- only AUTOINCREMENT keeps it from giving a deleted row's number again.
CREATE TABLE IF NOT EXISTS WORKER_NODE (
  ID          INTEGER     NOT NULL PRIMARY KEY AUTOINCREMENT,
  HOST_NAME   VARCHAR(64) NOT NULL,
  PORT        VARCHAR(64) NOT NULL,
  TYPE        INT         NOT NULL, -- 1 container, 2 actual
  LAUNCH_DATE DATE        NOT NULL,
  MODIFIED    TIMESTAMP   NOT NULL,
  CREATED     TIMESTAMP   NOT NULL
)
