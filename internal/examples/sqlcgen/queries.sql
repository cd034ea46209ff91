-- name: CreateOrder :exec
INSERT INTO orders (id, parent_id, buyer_id, note) VALUES ($1, $2, $3, $4);

-- name: OrdersOf :many
SELECT * FROM orders WHERE buyer_id = $1 ORDER BY id;

-- An array parameter has no column to take its type from: with the cast it is
-- []int64 in Go, and without one a single uid.ID, which is wrong.
-- name: OrdersByID :many
SELECT * FROM orders WHERE id = ANY(@ids::bigint[]) ORDER BY id;
