// Package deal has what the generators of package uid and of the packages below it share:
// the methods that follow from a function that claims ids ([Claims]), the engine that deals
// ids from a ring ([Dealer]), what ends calls and counts them ([Calls]), and how many ids to
// fetch at once ([Pace]).
//
// Package uid imports this package, so ids are an int64 here. [Claims] is generic: it
// returns the ID and the Run of package uid. The sentinels are those of package uid.
package deal
