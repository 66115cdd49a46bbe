# frozen_string_literal: true

# EventMachine: one reactor, written in C++, waits for all sockets by epoll and calls a connection's methods with what
# came. What a socket does not take EventMachine keeps and sends later; a connection can ask how much that is.
#
# The listeners are Ruby's own and only attached: EventMachine's `start_server` has a backlog of its own.
# Left out on purpose: `http`, for which one would take a web server that is built on EventMachine.

require "set"
require "eventmachine"
require_relative "../contract"

LINE_BYTES = 64 * 1024
# What is kept for who does not read a broadcast; beyond that it is cut off.
KEPT_BYTES = 1024 * 1024

class Echo < EM::Connection
  # Without a bound: `pause` would stop the sending together with the reading.
  def receive_data(data)
    send_data(data)
  end
end

class Broadcast < EM::Connection
  EVERYBODY = Set.new

  def post_init
    @unended_line = +""
    EVERYBODY.add(self)
    send_data("connected\n")
  end

  def receive_data(data)
    @unended_line << data
    if (last = @unended_line.rindex("\n"))
      lines = @unended_line.slice!(..last)
      EVERYBODY.each { |connection| connection.hear(lines) }
    elsif @unended_line.bytesize > LINE_BYTES
      close_connection
    end
  end

  def hear(lines)
    return close_connection if get_outbound_data_size > KEPT_BYTES

    send_data(lines)
  end

  def unbind
    EVERYBODY.delete(self)
  end
end

options = Contract.options(%w[echo broadcast])
listeners = Contract.listen(options)
EM.epoll
EM.run do
  listeners.each { |listener| EM.attach_server(listener, options.workload == "echo" ? Echo : Broadcast) }
  Contract.ready(listeners)
end
