module example.com/sums/inner

go 1.25.0
