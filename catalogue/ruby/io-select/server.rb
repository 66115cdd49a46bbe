# frozen_string_literal: true

# One thread and `IO.select`, which is told all sockets in each turn and looks at all of them: what a turn costs grows
# with how many are open. A listener that is ready is accepted from once, as the many-threads experiment's server did.
#
# Unlike that one it never blocks in a write: what a socket does not take is kept, and written when `select` says that
# there is room. Left out on purpose: any use of more than one core, and `http`.

require_relative "../contract"

CHUNK_BYTES = 16 * 1024
LINE_BYTES = 64 * 1024
# Who is behind by this much is not read from (echo), or cut off (broadcast).
KEPT_BYTES = 1024 * 1024

class Connection
  attr_reader :socket, :unended_line
  attr_accessor :ended

  def initialize(socket)
    @socket = socket
    @unsent = String.new(encoding: Encoding::BINARY)
    @unended_line = String.new(encoding: Encoding::BINARY)
    @ended = false
  end

  # What `IO.select` asks for.
  def to_io = @socket

  def write(bytes)
    @unsent << bytes
    # Where something was kept from before, `select` says when there is room.
    flush if @unsent.bytesize == bytes.bytesize
  end

  def flush
    written = @socket.write_nonblock(@unsent, exception: false)
    @unsent = @unsent.byteslice(written..) unless written == :wait_writable
  end

  def wants_reading? = !@ended && !behind?

  def wants_writing? = !@unsent.empty?

  def behind? = @unsent.bytesize >= KEPT_BYTES

  def finished? = @ended && @unsent.empty?
end

# Waits for all sockets, and hands what comes to the workload.
class Server
  def initialize(listeners, workload)
    @listeners = listeners
    @workload = workload
    @connections = Set.new
  end

  def run
    loop do
      readers, writers = @connections.select(&:wants_reading?), @connections.select(&:wants_writing?)
      readable, writable = IO.select(@listeners + readers.to_a, writers.to_a)
      writable.each { |connection| attempt(connection, &:flush) }
      readable.each { |ready| ready.is_a?(Connection) ? read(ready) : accept(ready) }
    end
  end

  def each_connection(&) = @connections.to_a.each(&)

  # Whatever fails on a connection ends that connection alone.
  def attempt(connection)
    return unless @connections.include?(connection)

    yield connection
    close(connection) if connection.finished?
  rescue SystemCallError, IOError
    close(connection)
  end

  def close(connection)
    @connections.delete(connection)
    connection.socket.close
  end

  private

  def accept(listener)
    socket = listener.accept_nonblock(exception: false)
    return if socket == :wait_readable

    connection = Connection.new(socket)
    @connections.add(connection)
    attempt(connection) { @workload.opened(connection) }
  end

  def read(connection)
    attempt(connection) do
      chunk = connection.socket.read_nonblock(CHUNK_BYTES, exception: false)
      if chunk.nil?
        connection.ended = true
      elsif chunk != :wait_readable
        @workload.received(chunk, connection, self)
      end
    end
  end
end

module Echo
  module_function

  def opened(_connection) = nil

  def received(chunk, connection, _server) = connection.write(chunk)
end

module Broadcast
  module_function

  def opened(connection) = connection.write("connected\n")

  def received(chunk, connection, server)
    unended = connection.unended_line << chunk
    if (last = unended.rindex("\n"))
      say(unended.slice!(..last), server)
    elsif unended.bytesize > LINE_BYTES
      server.close(connection)
    end
  end

  def say(lines, server)
    server.each_connection do |listener|
      server.attempt(listener) { listener.write(lines) }
      server.close(listener) if listener.behind?
    end
  end
end

options = Contract.options(%w[echo broadcast])
listeners = Contract.listen(options)
Contract.ready(listeners)
Server.new(listeners, options.workload == "echo" ? Echo : Broadcast).run
