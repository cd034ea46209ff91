package deal

import "time"

// growth is the greatest ratio of a fetch to the fetch before it.
const growth = 16

// greatest is what times multiplies at most, so that no product overflows.
const greatest = 1 << 40

// Pace decides how many ids are fetched. The decision is a function of the usage since
// the last fetch, so a fetch that fails changes nothing. The caller sets First, Least,
// Most and Ahead. Fetched writes the other fields.
type Pace struct {
	First       int64         // ids of the first fetch; 0 is the store's own step
	Least, Most int64         // ids of a later fetch; Least 0 is the store's own step
	Ahead       time.Duration // how long a fetch should last

	Own     int64     // the store's own step, when it was last used; 0 is unknown
	Size    int64     // ids of the last fetch; 0 before the first
	at      time.Time // of the last fetch
	issued  int64     // ids issued before the last fetch
	starved int64     // takes that found nothing before the last fetch
}

// Usage is what the decision depends on.
type Usage struct {
	Now     time.Time
	Issued  int64 // ids
	Starved int64 // takes that found nothing
}

// Next returns how many ids to fetch; 0 is the store's own step. They last for Ahead at
// the rate since the last fetch, within these bounds:
//
//   - at most 16 times the last fetch, so that a burst of a thousand ids does not fetch
//     millions
//   - at least twice the last fetch if takes found nothing, so that missing fetches
//     become one
//   - half of the last fetch if the rate asks for less than half; otherwise at least as
//     many as the last fetch
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

// target returns how many ids last for Ahead at the present rate, but at most Most.
func (p *Pace) target(u Usage) int64 {
	elapsed := max(u.Now.Sub(p.at), time.Nanosecond)
	target := float64(u.Issued-p.issued) / float64(elapsed) * float64(p.Ahead)
	if target >= float64(p.Most) {
		return p.Most
	}
	return int64(target)
}

// Fetched notes that count ids were fetched where Next had returned asked.
func (p *Pace) Fetched(u Usage, asked, count int64) {
	if asked == 0 {
		p.Own = count
	}
	p.Size, p.at, p.issued, p.starved = count, u.Now, u.Issued, u.Starved
}

func times(n, factor int64) int64 { return min(n, greatest) * factor }
