module example.com/sums/inner

go 1.26.0
