CREATE TABLE orders (
  id        BIGINT PRIMARY KEY, -- no sequence: the generator makes ids
  parent_id BIGINT,
  buyer_id  BIGINT NOT NULL,
  note      TEXT   NOT NULL
);
