package bench

// channelBuffer is as generous as one would make it by hand.
const channelBuffer = 1024

var channelFeed = Impl{
	Name:    "channel",
	Package: "a goroutine that feeds a buffered channel",
	Kind:    Handmade,
	Cap:     "none",
	GivesUp: "no time, no worker, starts again from 0 with the process; a goroutine to stop",
	Setup:   "a buffer of 1,024",
	New: func() (*Instance, error) {
		var (
			ids  = make(chan int64, channelBuffer)
			stop = make(chan struct{})
			done = make(chan struct{})
		)
		go func() {
			defer close(done)
			for id := int64(1); ; id++ {
				select {
				case ids <- id:
				case <-stop:
					return
				}
			}
		}()
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					last = uint64(<-ids)
				}
				return last, nil
			},
			One: func() (any, error) { return <-ids, nil },
			Close: func() error {
				close(stop)
				<-done
				return nil
			},
		}, nil
	},
}
