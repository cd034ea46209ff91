-- uid-generator's table. One row a start; the key is the worker number. Row -1 has the layout.
CREATE TABLE IF NOT EXISTS WORKER_NODE (
  ID          BIGINT      NOT NULL AUTO_INCREMENT,
  HOST_NAME   VARCHAR(64) NOT NULL,
  PORT        VARCHAR(64) NOT NULL,
  TYPE        INT         NOT NULL, -- 1 container, 2 actual
  LAUNCH_DATE DATE        NOT NULL,
  MODIFIED    TIMESTAMP   NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CREATED     TIMESTAMP   NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (ID)
) ENGINE = InnoDB
