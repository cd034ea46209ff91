//go:build cgo

package encoders

import _ "github.com/mattn/go-sqlite3"

func init() { sqlites = append(sqlites, "sqlite3") }
