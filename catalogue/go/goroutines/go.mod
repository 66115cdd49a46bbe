module throng/catalogue/go/goroutines

go 1.19
