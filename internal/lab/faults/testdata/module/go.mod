module example.com/sums

go 1.26.0
