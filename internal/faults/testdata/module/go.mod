module example.com/sums

go 1.25.0
