# frozen_string_literal: true

# A fiber for each connection, and Ruby's own interface of a fiber scheduler: the code reads and writes as a thread
# would, and where it would have to wait Ruby calls the scheduler of this file, which lets another fiber run. All of
# them are on one thread. In `broadcast` a second fiber writes what a connection hears, as in `ruby/two-threads`.
#
# The scheduler waits by `IO.select`, which is what the standard library has; the gem `async` has one with epoll.
# Left out on purpose: `http`; in the scheduler, fibers that are woken by another thread.

require_relative "../contract"

# What Ruby calls when a fiber would block. Ruby calls `close` at the end of the program, and that runs the fibers.
class Scheduler
  def initialize
    @readers = {}
    @writers = {}
    @due = {}
    @blocked = Set.new
    @woken = []
  end

  # The hooks, called in the fiber that has to wait.

  def io_wait(io, events, timeout)
    fiber = Fiber.current
    @readers[io] = fiber if events.anybits?(IO::READABLE)
    @writers[io] = fiber if events.anybits?(IO::WRITABLE)
    wait_at_most(timeout)
  ensure
    @readers.delete(io) if @readers[io].equal?(fiber)
    @writers.delete(io) if @writers[io].equal?(fiber)
  end

  def kernel_sleep(duration = nil)
    wait_at_most(duration)
    true
  end

  def block(_blocker, timeout = nil)
    # What a fiber waits for in a queue does not hold it: without a place here it would be collected as garbage.
    @blocked.add(Fiber.current)
    wait_at_most(timeout)
  ensure
    @blocked.delete(Fiber.current)
  end

  def unblock(_blocker, fiber)
    @woken << [fiber, true]
  end

  def fiber(&)
    Fiber.new(blocking: false, &).tap(&:resume)
  end

  def close
    run
  end

  private

  # False when the time is over, otherwise what the fiber was resumed with.
  def wait_at_most(seconds)
    @due[Fiber.current] = now + seconds if seconds
    Fiber.yield
  ensure
    @due.delete(Fiber.current) if seconds
  end

  def run
    until [@readers, @writers, @due, @blocked].all?(&:empty?)
      readable, writable = IO.select(@readers.keys, @writers.keys, nil, seconds_to_wait)
      readable&.each { |io| @readers[io]&.resume(IO::READABLE) }
      writable&.each { |io| @writers[io]&.resume(IO::WRITABLE) }
      @due.filter_map { |fiber, due| fiber if due <= now }.each { |fiber| fiber.resume(false) }
      resume_woken
    end
  end

  def seconds_to_wait
    return 0 if @woken.any?

    [@due.each_value.min - now, 0].max if @due.any?
  end

  # Those that are woken meanwhile have to wait for the next turn.
  def resume_woken
    woken, @woken = @woken, []
    woken.each { |fiber, value| fiber.resume(value) if fiber.alive? }
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

module Echo
  CHUNK_BYTES = 16 * 1024

  def self.serve(connection)
    loop { connection.write(connection.readpartial(CHUNK_BYTES)) }
  rescue SystemCallError, IOError
    # The end of input, or a reset.
  ensure
    connection.close
  end
end

module Broadcast
  LINE_BYTES = 64 * 1024
  # What is kept for a client that does not read; beyond that it is cut off.
  KEPT_BYTES = 1024 * 1024
  # Who speaks is read on only when what it has still to hear is less than this.
  AHEAD_BYTES = 64 * 1024

  # What one connection has still to hear.
  class Outbox
    attr_reader :bytes

    def initialize(connection)
      @connection = connection
      @lines = Thread::Queue.new
      @delivered = Thread::Queue.new
      @bytes = 0
    end

    def put(line)
      return cut_off if @bytes + line.bytesize > KEPT_BYTES || @lines.closed?

      @bytes += line.bytesize
      @lines.push(line)
    end

    # What the second fiber does.
    def deliver
      while (line = @lines.pop)
        @connection.write(line)
        @bytes -= line.bytesize
      end
    rescue SystemCallError, IOError
      cut_off
    ensure
      @bytes = 0
      @delivered.close
    end

    # Waits until everything that was put is written.
    def close
      @lines.close
      @delivered.pop
    end

    private

    # Its reader then sees the end of input, and its writer fails.
    def cut_off
      @lines.close
      @connection.shutdown
    rescue SystemCallError, IOError
      # It has gone already.
    end
  end

  EVERYBODY = Set.new

  def self.serve(connection)
    outbox = Outbox.new(connection)
    outbox.put("connected\n")
    EVERYBODY.add(outbox)
    Fiber.schedule { outbox.deliver }
    while (line = connection.gets("\n", LINE_BYTES))&.end_with?("\n")
      EVERYBODY.each { |everyone| everyone.put(line) }
      sleep(0.005) while outbox.bytes > AHEAD_BYTES
    end
  rescue SystemCallError, IOError
    # It was reset.
  ensure
    EVERYBODY.delete(outbox)
    outbox.close
    connection.close
  end
end

options = Contract.options(%w[echo broadcast])
workload = options.workload == "echo" ? Echo : Broadcast
listeners = Contract.listen(options)
Fiber.set_scheduler(Scheduler.new)
listeners.each do |listener|
  Fiber.schedule do
    loop do
      connection = listener.accept
      Fiber.schedule { workload.serve(connection) }
    end
  end
end
Contract.ready(listeners)
