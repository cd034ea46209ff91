// Package pace decides how many ids to fetch at once, so that they last for a time
// at the rate at which ids are used.
package pace

import "time"

// growth is how many times more ids may be fetched than the time before.
const growth = 16

// greatest is the greatest number of ids that is multiplied.
const greatest = 1 << 40

// Pace decides how many ids are fetched. The decision is a function of what was
// used since the last fetch, so a fetch that fails changes nothing. The exported
// fields before Own are set once; Pace keeps the others.
type Pace struct {
	First       int64 // how many the first time; 0 is the store's own step
	Least, Most int64 // later; Least 0 is the store's own step
	Ahead       time.Duration

	Own     int64     // the store's step, as it last was; 0 is not known
	Size    int64     // how many the last time; 0 before the first
	at      time.Time // when those were asked for
	issued  int64     // ids issued until then
	starved int64     // takes that had found nothing until then
}

// Usage is what the decision depends on.
type Usage struct {
	Now     time.Time
	Issued  int64 // ids
	Starved int64 // takes that found nothing
}

// Next returns how many ids to ask for; 0 is the store's own step. They last as
// long as Ahead at the rate at which the last ones were used. There are at most 16
// times more of them, so that a burst of a thousand ids does not fetch millions. There
// are at least twice as many if takes found nothing, so that missing fetches become
// one. There are half as many if that is still too much.
func (p *Pace) Next(u Usage) int64 {
	if p.Size == 0 {
		return p.First
	}
	size, target := p.Size, p.target(u)
	switch {
	case u.Starved > p.starved:
		size = min(max(target, times(size, 2)), times(size, growth))
	case target > size:
		size = min(target, times(size, growth))
	case target < size/2:
		size /= 2
	}
	least := p.Least
	if least == 0 {
		least = p.Own
	}
	switch {
	case size > least:
		return min(size, p.Most)
	case p.Least == 0 && p.Own <= p.Most:
		return 0
	}
	return min(least, p.Most)
}

// target returns how many ids last as long as Ahead at the present rate, Most at
// most.
func (p *Pace) target(u Usage) int64 {
	elapsed := max(u.Now.Sub(p.at), time.Nanosecond)
	target := float64(u.Issued-p.issued) / float64(elapsed) * float64(p.Ahead)
	if target >= float64(p.Most) {
		return p.Most
	}
	return int64(target)
}

// Fetched notes that count ids were fetched for those asked.
func (p *Pace) Fetched(u Usage, asked, count int64) {
	if asked == 0 {
		p.Own = count
	}
	p.Size, p.at, p.issued, p.starved = count, u.Now, u.Issued, u.Starved
}

// times returns n times factor, or a great number that factor can still multiply.
func times(n, factor int64) int64 { return min(n, greatest) * factor }
