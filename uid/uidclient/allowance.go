package uidclient

// mostGood is the greatest wait of an allowance: at most one request in so many asks for
// more than a server allows.
const mostGood = 64

// allowance is how many ids the client asks for at most. It follows the servers as TCP
// follows a network: it halves when fewer ids may help, and doubles with good answers.
// Up to half of the size that failed after good answers, it doubles with each answer.
// Above that it waits for 1, 2, 4 and up to 64 answers: twice as many after each failure.
type allowance struct {
	n     int64 // ids, from 1 to most
	most  int64 // Config.MaxIDs
	known int64 // ids that servers probably allow, after a failure
	good  int   // answers with n ids or more since the last failure
	wait  int   // such answers until n doubles above known
}

func newAllowance(most int64) allowance { return allowance{n: most, most: most, wait: 1} }

// answered lets the size grow after an answer. The request was for asked ids.
func (a *allowance) answered(asked int64) {
	if asked < a.n {
		return // it says nothing about more
	}
	if a.good++; a.good >= a.wait || 2*a.n <= a.known {
		a.n = min(2*a.n, a.most)
	}
	if a.n == a.most {
		*a = newAllowance(a.most)
	}
}

func (a *allowance) failed(asked int64) {
	a.n = max(1, asked/2)
	if a.good > 0 {
		a.good, a.known, a.wait = 0, a.n, min(2*a.wait, mostGood)
	}
}
