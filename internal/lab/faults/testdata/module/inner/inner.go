package inner

func one() int { return 1 }
