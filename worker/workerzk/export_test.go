package workerzk

import "time"

// Faster has reports and spans of time that suit a test.
func (l *LeafLeaser) Faster(every, lives, held time.Duration) *LeafLeaser {
	l.every, l.lives, l.held = every, lives, held
	return l
}

// Spans are those that Faster changes.
func (l *LeafLeaser) Spans() (every, lives, held time.Duration) { return l.every, l.lives, l.held }
