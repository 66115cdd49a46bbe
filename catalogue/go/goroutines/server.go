// A goroutine for each connection, which blocks in reading and writing; the
// runtime lets the others run meanwhile, on as many threads as there are
// processors. HTTP is net/http, which works in the same way. Only a broadcast
// needs more: a second goroutine for each connection writes what the others
// have said, so that a client that does not read delays nobody but itself.
// Left out on purpose: asking the clients to leave before the server ends.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// keptAtMost bounds what is kept for a client that does not read a broadcast,
// and of a line that has not ended.
const keptAtMost = 1 << 20

// frameAtMost is how long a frame may be, its length not counted.
const frameAtMost = 64 * 1024

type options struct {
	listen   []address
	workload string
	delay    time.Duration
}

type address struct{ network, name string }

func main() {
	log.SetFlags(0)
	options, err := parseOptions(os.Args[1:])
	if err != nil {
		log.Print(err)
		os.Exit(2)
	}

	ending, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var listeners []net.Listener
	for _, address := range options.listen {
		listener, err := net.Listen(address.network, address.name)
		if err != nil {
			log.Fatal(err)
		}
		defer listener.Close() // which removes the path of a Unix socket
		listeners = append(listeners, listener)
	}
	serve := serverOf(options)
	for i, listener := range listeners {
		go serve(listener)
		fmt.Println("ready", announced(options.listen[i], listener))
	}
	<-ending.Done()
}

// serverOf returns what serves a listener for ever.
func serverOf(options options) func(net.Listener) {
	switch options.workload {
	case "http":
		server := &http.Server{
			Handler:  answerAfter(options.delay),
			ErrorLog: log.New(io.Discard, "", 0), // clients may leave as they like
		}
		return func(listener net.Listener) { server.Serve(listener) }
	case "broadcast":
		return acceptEach(newRoom().serve)
	case "framed":
		return acceptEach(answerFrames)
	case "oneshot":
		return acceptEach(func(connection net.Conn) { answerOnce(connection, options.delay) })
	default:
		return acceptEach(echo)
	}
}

func acceptEach(serve func(net.Conn)) func(net.Listener) {
	return func(listener net.Listener) {
		for {
			connection, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // no descriptors are left, most likely
				time.Sleep(5 * time.Millisecond)
				continue
			}
			go func() {
				defer connection.Close()
				serve(connection)
			}()
		}
	}
}

// echo is not io.Copy(connection, connection): that would splice through a pipe,
// and hold two more descriptors for each connection.
func echo(connection net.Conn) {
	buffer := make([]byte, 4096)
	for {
		length, err := connection.Read(buffer)
		if err != nil {
			return
		}
		if _, err := connection.Write(buffer[:length]); err != nil {
			return
		}
	}
}

// answerOnce closes after one answer, however many bytes have asked for it.
func answerOnce(connection net.Conn, delay time.Duration) {
	request := make([]byte, 4096)
	if _, err := connection.Read(request); err != nil {
		return
	}
	time.Sleep(delay)
	io.WriteString(connection, "HTTP/1.1 200 OK\r\n\r\nok\r\n")
}

func answerAfter(delay time.Duration) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		delay, count, err := parseWork(request.URL.RawQuery, delay)
		if err != nil {
			response.Header().Set("Connection", "close")
			http.Error(response, err.Error(), http.StatusBadRequest)
			return
		}
		time.Sleep(delay)
		countTo(count)
		io.WriteString(response, "ok")
	}
}

func parseWork(query string, delay time.Duration) (time.Duration, uint64, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0, 0, err
	}
	if values.Has("delay") {
		if delay, err = parseDelay(values.Get("delay")); err != nil {
			return 0, 0, err
		}
	}
	var count uint64
	if values.Has("count") {
		if count, err = strconv.ParseUint(values.Get("count"), 10, 64); err != nil {
			return 0, 0, err
		}
	}
	return delay, count, nil
}

type reply struct {
	Code    int    `json:"code"`
	Message string `json:"msg"`
}

func answerFrames(connection net.Conn) {
	input := bufio.NewReader(connection)
	prefix := make([]byte, 4)
	for {
		if _, err := io.ReadFull(input, prefix); err != nil {
			return
		}
		length := binary.BigEndian.Uint32(prefix)
		if length > frameAtMost {
			reject(connection, "the frame is too long")
			return
		}
		frame := make([]byte, length)
		if _, err := io.ReadFull(input, frame); err != nil {
			return
		}
		if err := writeFrame(connection, answerFrame(frame)); err != nil {
			return
		}
	}
}

// answerFrame does not decode into a struct: encoding/json would take "COUNT" for
// the field too, and null for an object or a number.
func answerFrame(frame []byte) reply {
	var request map[string]json.RawMessage
	if err := json.Unmarshal(frame, &request); err != nil || request == nil {
		return reply{http.StatusBadRequest, "a request is an object"}
	}
	if asked, ok := request["count"]; ok {
		count, err := strconv.ParseUint(string(asked), 10, 64)
		if err != nil {
			return reply{http.StatusBadRequest, "count is a whole number from 0"}
		}
		countTo(count)
	}
	return reply{http.StatusOK, "ok"}
}

func writeFrame(connection net.Conn, reply reply) error {
	text, err := json.Marshal(reply)
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(text)), uint32(len(text)))
	_, err = connection.Write(append(frame, text...))
	return err
}

// reject reads on for a while after its reply, and drops what comes: a connection
// that is closed with unread input is reset, and the reply might be lost by that.
func reject(connection net.Conn, message string) {
	if err := writeFrame(connection, reply{http.StatusBadRequest, message}); err != nil {
		return
	}
	connection.(interface{ CloseWrite() error }).CloseWrite()
	connection.SetReadDeadline(time.Now().Add(time.Second))
	io.CopyN(io.Discard, connection, keptAtMost)
}

func countTo(limit uint64) {
	for counter := uint64(0); counter < limit; counter = next(counter) {
	}
}

// next is called for each number, so that the loop stays a loop.
//
//go:noinline
func next(counter uint64) uint64 { return counter + 1 }

// A room is what all listeners to a broadcast have in common. Its lock is held
// while a message is put before everybody, never while somebody is written to.
type room struct {
	lock    sync.Mutex
	members map[*member]struct{}
}

func newRoom() *room { return &room{members: make(map[*member]struct{})} }

// A member has its messages in a buffer, which its own goroutine empties. A
// channel would bound their number, but it is their bytes that take the space.
type member struct {
	connection net.Conn
	lock       sync.Mutex
	changed    sync.Cond
	waiting    []byte
	beingSent  int // bytes that are the writer's already
	left       bool
}

func (r *room) serve(connection net.Conn) {
	m := &member{connection: connection}
	m.changed.L = &m.lock
	m.put([]byte("connected\n"))
	r.lock.Lock()
	r.members[m] = struct{}{}
	r.lock.Unlock()
	// Only now: who has been greeted hears all that is said from then on.
	go m.write()
	r.relayLines(connection)
	r.lock.Lock()
	delete(r.members, m)
	r.lock.Unlock()
	m.leave()
}

func (r *room) relayLines(connection net.Conn) {
	buffer := make([]byte, 4096)
	var unfinished []byte
	for len(unfinished) <= keptAtMost {
		length, err := connection.Read(buffer)
		if err != nil {
			return
		}
		fresh := buffer[:length]
		if end := bytes.LastIndexByte(fresh, '\n') + 1; end > 0 {
			r.say(append(unfinished, fresh[:end]...))
			unfinished, fresh = unfinished[:0], fresh[end:]
		}
		unfinished = append(unfinished, fresh...)
	}
}

func (r *room) say(lines []byte) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for m := range r.members {
		m.put(lines)
	}
}

// put never waits: who is too far behind has to go.
func (m *member) put(message []byte) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.left {
		return
	}
	if m.beingSent+len(m.waiting)+len(message) > keptAtMost {
		m.left = true
		m.connection.Close() // ends the write that is stuck, and the reading
	} else {
		m.waiting = append(m.waiting, message...)
	}
	m.changed.Signal()
}

func (m *member) leave() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.left = true
	m.changed.Signal()
}

func (m *member) write() {
	var sending []byte
	for {
		m.lock.Lock()
		m.beingSent = 0
		for len(m.waiting) == 0 && !m.left {
			m.changed.Wait()
		}
		left := m.left
		sending, m.waiting = m.waiting, sending[:0]
		m.beingSent = len(sending)
		m.lock.Unlock()
		if left {
			return
		}
		if _, err := m.connection.Write(sending); err != nil {
			return // reading fails too, and cleans up
		}
	}
}

// parseOptions is written out, since the flags of package flag are not refused
// in the way that the contract asks for.
func parseOptions(words []string) (options, error) {
	var o options
	for len(words) > 0 {
		flag := words[0]
		if len(words) == 1 {
			return o, fmt.Errorf("%s: a value is missing", flag)
		}
		value := words[1]
		words = words[2:]
		var err error
		switch flag {
		case "--listen":
			var a address
			a, err = parseAddress(value)
			o.listen = append(o.listen, a)
		case "--workload":
			if !strings.Contains(" echo broadcast http oneshot framed ", " "+value+" ") {
				err = fmt.Errorf("there is no workload %q", value)
			}
			o.workload = value
		case "--backlog":
			// net.Listen asks for the most that the kernel allows, whatever we want.
			_, err = strconv.ParseUint(value, 10, 31)
		case "--delay-ms":
			o.delay, err = parseDelay(value)
		default:
			err = errors.New("there is no such flag")
		}
		if err != nil {
			return o, fmt.Errorf("%s: %w", flag, err)
		}
	}
	if len(o.listen) == 0 {
		return o, errors.New("--listen: must be given")
	}
	if o.workload == "" {
		return o, errors.New("--workload: must be given")
	}
	return o, nil
}

func parseAddress(text string) (address, error) {
	if path := strings.TrimPrefix(text, "unix:"); path != text {
		if path == "" {
			return address{}, errors.New("a path is missing")
		}
		return address{"unix", path}, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return address{}, err
	}
	if net.ParseIP(host) == nil {
		return address{}, fmt.Errorf("%q is no address", host)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return address{}, err
	}
	return address{"tcp", text}, nil
}

// parseDelay takes milliseconds, and no more than a day of them.
func parseDelay(text string) (time.Duration, error) {
	milliseconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, err
	}
	if !(milliseconds >= 0 && milliseconds <= 24*60*60*1000) {
		return 0, fmt.Errorf("%q is no delay", text)
	}
	return time.Duration(milliseconds * float64(time.Millisecond)), nil
}

func announced(asked address, listener net.Listener) string {
	if asked.network == "unix" {
		return "unix:" + asked.name
	}
	return listener.Addr().String()
}
