-- uid-generator's table. The key of a new row is a new worker number. Row -1 has the layout of all ids.
-- The comment at the end makes TiDB count by one.
CREATE TABLE IF NOT EXISTS WORKER_NODE (
  ID          BIGINT      NOT NULL AUTO_INCREMENT,
  HOST_NAME   VARCHAR(64) NOT NULL,
  PORT        VARCHAR(64) NOT NULL,
  TYPE        INT         NOT NULL, -- 1 container, 2 actual; in row -1, 3 if numbers are drawn, 4 if they are divided
  LAUNCH_DATE DATE        NOT NULL,
  MODIFIED    TIMESTAMP   NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CREATED     TIMESTAMP   NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (ID)
) ENGINE = InnoDB /*T![auto_id_cache] AUTO_ID_CACHE = 1 */
