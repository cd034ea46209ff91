package uidgorm_test

import (
	"context"
	"strings"
	"sync"
	"time"

	"gorm.io/gorm/logger"
)

// statements is a logger that keeps the SQL that was sent.
type statements struct {
	mu   sync.Mutex
	sent []string
}

func (s *statements) LogMode(logger.LogLevel) logger.Interface      { return s }
func (s *statements) Info(context.Context, string, ...interface{})  {}
func (s *statements) Warn(context.Context, string, ...interface{})  {}
func (s *statements) Error(context.Context, string, ...interface{}) {}

func (s *statements) Trace(_ context.Context, _ time.Time, sql func() (string, int64), _ error) {
	text, _ := sql()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, text)
}

// beginning returns the statements that begin with a word.
func (s *statements) beginning(word string) (found []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range s.sent {
		if strings.HasPrefix(strings.ToUpper(text), word) {
			found = append(found, text)
		}
	}
	return found
}

func (s *statements) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = nil
}
