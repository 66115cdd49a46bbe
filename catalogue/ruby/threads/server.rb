# frozen_string_literal: true

# A thread for each connection, on Ruby's own threads: the thread waits in `readpartial`, `gets` or `sleep`, and Ruby
# lets another one run meanwhile. The main thread waits for connections and starts a thread for each.
# `RUBY_MN_THREADS=1` makes the same program one of M:N threads: all but the main thread share a few of the kernel's.
#
# In `broadcast` the thread of who speaks writes to everybody itself and waits for nobody. What a socket has no room for
# is not kept: its client is cut off. (`ruby/two-threads` has a second thread that writes, and keeps.)
#
# Left out on purpose: bodies of requests.

require "json"
require_relative "../contract"

CHUNK_BYTES = 16 * 1024

def echo(connection)
  chunk = String.new(capacity: CHUNK_BYTES)
  # `write` returns when all of it is written: who does not read is not read from.
  connection.write(chunk) while connection.readpartial(CHUNK_BYTES, chunk)
rescue EOFError
  connection.close_write
end

# Those who hear each other. The mutex is held while somebody speaks, so that lines come whole, and to all in one order.
class Room
  LINE_BYTES = 64 * 1024

  def initialize
    @mutex = Mutex.new
    @connections = Set.new
  end

  # Whoever has read the greeting hears everything that is said from then on, and nothing comes before it.
  def join(connection)
    @mutex.synchronize { @connections.add(connection) if takes?(connection, "connected\n") }
  end

  def say(line)
    @mutex.synchronize { @connections.keep_if { |connection| takes?(connection, line) } }
  end

  def leave(connection)
    @mutex.synchronize { @connections.delete(connection) }
  end

  private

  # A socket without room is that of a client that does not read. Its thread then sees the end of input.
  def takes?(connection, bytes)
    return true if connection.write_nonblock(bytes, exception: false) == bytes.bytesize

    connection.shutdown
    false
  rescue SystemCallError, IOError
    # It was reset, which its thread sees too.
    false
  end
end

def broadcast(connection, room)
  room.join(connection)
  while (line = connection.gets("\n", Room::LINE_BYTES))&.end_with?("\n")
    room.say(line)
  end
ensure
  room.leave(connection)
end

def oneshot(connection, delay)
  connection.readpartial(CHUNK_BYTES)
  sleep(delay)
  connection.write("HTTP/1.1 200 OK\r\n\r\nok\r\n")
end

# HTTP/1.1 as far as the workload goes: a request line, headers of which only `Connection` matters, and two parameters.
class HttpConversation
  LINE_BYTES = 8 * 1024
  HEADERS = 100
  REQUEST_LINE = %r{\A([A-Z]+) [^\s?]+(?:\?(\S*))? HTTP/1\.([01])\r?\n\z}
  HEADER = /\A([!#$%&'*+\-.^`|~\w]+):[ \t]*(.*?)[ \t]*\r?\n\z/n

  BadRequest = Class.new(StandardError)
  Request = Struct.new(:method, :delay, :count, :keep_alive)

  def initialize(connection, delay)
    @connection = connection
    @default_delay = delay
  end

  def serve
    while (request = read_request)
      handle(request)
      break unless request.keep_alive
    end
  rescue BadRequest
    answer("400 Bad Request", "bad request", keep_alive: false)
  end

  private

  # The next request; nil where the client has none any more.
  def read_request
    line = @connection.gets("\n", LINE_BYTES) or return
    method, query, minor = line.match(REQUEST_LINE)&.captures
    raise BadRequest unless method

    connection = read_headers.fetch("connection", "").downcase
    keep_alive = minor == "1" ? connection != "close" : connection == "keep-alive"
    parameters = query.to_s.split("&").to_h { |pair| pair.partition("=").values_at(0, 2) }
    Request.new(method, delay_of(parameters), count_of(parameters), keep_alive)
  end

  def read_headers
    headers = {}
    HEADERS.times do
      line = @connection.gets("\n", LINE_BYTES)
      return headers if line == "\r\n" || line == "\n"

      name, value = line.to_s.match(HEADER)&.captures
      raise BadRequest unless name

      headers[name.downcase] = value
    end
    raise BadRequest
  end

  def delay_of(parameters)
    text = parameters["delay"] or return @default_delay
    raise BadRequest unless text.match?(/\A\d{1,9}(\.\d+)?\z/)

    text.to_f / 1000
  end

  def count_of(parameters)
    text = parameters.fetch("count", "0")
    raise BadRequest unless text.match?(/\A\d{1,9}\z/)

    text.to_i
  end

  def handle(request)
    return answer("405 Method Not Allowed", "", keep_alive: request.keep_alive) unless request.method == "GET"

    sleep(request.delay)
    number = 0
    number += 1 while number < request.count
    answer("200 OK", "ok", keep_alive: request.keep_alive)
  end

  # In one write: in two, the second could wait for the acknowledgement of the first.
  def answer(status, body, keep_alive:)
    @connection.write(
      "HTTP/1.1 #{status}\r\nContent-Length: #{body.bytesize}\r\n" \
      "Connection: #{keep_alive ? "keep-alive" : "close"}\r\n\r\n#{body}"
    )
  end
end

# Requests and replies of JSON, each behind the four bytes of its length.
class FrameConversation
  PREFIX_BYTES = 4
  FRAME_BYTES = 64 * 1024
  COUNTS = (0..999_999_999)
  # What is dropped of a frame that is too long, and how long nothing may come meanwhile.
  DROPPED_CHUNKS = 64
  SILENT_SECONDS = 1

  BadRequest = Class.new(StandardError)

  def initialize(connection)
    @connection = connection
  end

  def serve
    while (prefix = read(PREFIX_BYTES))
      length = prefix.unpack1("N")
      return reject("the frame is too long") if length > FRAME_BYTES

      frame = read(length) or break
      handle(frame)
    end
  end

  private

  # So many bytes; nil where the client has left before the last of them.
  def read(length)
    bytes = @connection.read(length)
    bytes if bytes&.bytesize == length
  end

  def handle(frame)
    limit = count_of(frame)
    number = 0
    number += 1 while number < limit
    answer(200, "ok")
  rescue JSON::ParserError
    answer(400, "the frame holds no JSON")
  rescue BadRequest => e
    answer(400, e.message)
  end

  def count_of(frame)
    request = JSON.parse(frame)
    raise BadRequest, "a request is an object" unless request.is_a?(Hash)

    count = request.fetch("count", 0)
    raise BadRequest, "count is a whole number from 0" unless count.is_a?(Integer) && COUNTS.cover?(count)

    count
  end

  # In one write, as above.
  def answer(code, message)
    json = JSON.generate(code: code, msg: message)
    @connection.write([json.bytesize, json].pack("Na*"))
  end

  # Reads on for a while: a socket that is closed with unread input resets its connection, and the answer might be lost.
  def reject(message)
    answer(400, message)
    @connection.close_write
    DROPPED_CHUNKS.times do
      break unless @connection.wait_readable(SILENT_SECONDS)

      @connection.readpartial(CHUNK_BYTES)
    end
  end
end

def serve(connection, options, room)
  case options.workload
  when "echo" then echo(connection)
  when "broadcast" then broadcast(connection, room)
  when "http" then HttpConversation.new(connection, options.delay).serve
  when "oneshot" then oneshot(connection, options.delay)
  when "framed" then FrameConversation.new(connection).serve
  end
rescue SystemCallError, IOError
  # It was reset, or left before its turn.
ensure
  connection.close
end

options = Contract.options(%w[echo broadcast http oneshot framed])
listeners = Contract.listen(options)
room = Room.new
Contract.ready(listeners)
Socket.accept_loop(listeners) do |connection|
  Thread.new { serve(connection, options, room) }
rescue ThreadError
  # The kernel gives no more threads: this connection is not served, the others are.
  connection.close
end
