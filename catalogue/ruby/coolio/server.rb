# frozen_string_literal: true

# cool.io, which was Rev when it was published here: libev waits for all sockets and calls Ruby, where the connections
# read and write. Each has a buffer of what its socket did not take, and is told when that is empty.
#
# The listeners are Ruby's own, handed to `Cool.io::Server`: its `TCPServer` has a backlog of its own.
# Left out on purpose: `http`.

require "set"
require "cool.io"
require_relative "../contract"

LINE_BYTES = 64 * 1024
# Who is behind by this much is not read from (echo), or cut off (broadcast).
KEPT_BYTES = 1024 * 1024

class Connection < Cool.io::Socket
  def behind?
    @_write_buffer.size >= KEPT_BYTES
  end
end

class Echo < Connection
  def on_read(data)
    write(data)
    disable if behind?
  end

  def on_write_complete
    enable unless enabled?
  end
end

class Broadcast < Connection
  EVERYBODY = Set.new

  def on_connect
    @unended_line = +""
    EVERYBODY.add(self)
    write("connected\n")
  end

  def on_read(data)
    @unended_line << data
    if (last = @unended_line.rindex("\n"))
      lines = @unended_line.slice!(..last)
      EVERYBODY.to_a.each { |connection| connection.hear(lines) }
    elsif @unended_line.bytesize > LINE_BYTES
      close
    end
  end

  def hear(lines)
    return close if behind?

    write(lines)
  end

  def on_close
    EVERYBODY.delete(self)
  end
end

options = Contract.options(%w[echo broadcast])
listeners = Contract.listen(options)
listeners.each do |listener|
  Cool.io::Server.new(listener, options.workload == "echo" ? Echo : Broadcast).attach(Cool.io::Loop.default)
end
Contract.ready(listeners)
Cool.io::Loop.default.run
