# frozen_string_literal: true

# Two threads for each connection, as the many-threads experiment had them: a reader greets its connection, waits for
# its lines and hands them over to everybody; a writer waits for the next line that was handed over and writes it. So a
# client that does not read blocks its own writer and nobody who speaks. How lines are handed over is the question:
#
#   --hand-over condvar      one list, one mutex and condition variable; each writer knows its place (the default)
#   --hand-over queues       a queue for each connection; the reader puts the line into all of them
#   --hand-over broadcaster  the same queues, owned and filled by one more thread, which readers send lines to
#
# In `echo` a reader hands what it reads to its own writer alone, by a queue with a bound, whatever the flag says: the
# second thread is then needless, and what it costs can be seen. Left out on purpose: `http`.

require_relative "../contract"

CHUNK_BYTES = 16 * 1024
# Chunks of an echo that wait for their writer: who does not read is then read from no further.
CHUNKS_KEPT = 64
LINE_BYTES = 64 * 1024
# What is kept of a broadcast for a client that does not read; beyond that it is cut off.
KEPT_BYTES = 1024 * 1024
# Who speaks is read on only when its own writer is less than this behind: else speaking outruns hearing.
AHEAD_BYTES = 64 * 1024

# Ends both directions, which wakes a reader and a writer that are blocked. The reader then closes.
def cut_off(connection)
  connection.shutdown
rescue SystemCallError, IOError
  # It has gone already.
end

# One list of what was said last. All writers wait for one condition variable, so each line wakes all of them.
class SharedList
  class Member
    attr_reader :connection
    attr_accessor :writer, :place, :bytes_heard, :leaving

    def initialize(connection, place, bytes_heard)
      @connection = connection
      @place = place
      @bytes_heard = bytes_heard
    end
  end

  def initialize
    @mutex = Mutex.new
    @said = ConditionVariable.new
    @members = Set.new
    @lines = []
    @lines_dropped = 0
    @bytes_kept = 0
    @bytes_said = 0
  end

  # From here on the member hears what is said.
  def join(connection)
    @mutex.synchronize do
      member = Member.new(connection, @lines_dropped + @lines.size, @bytes_said)
      @members.add(member)
      member
    end
  end

  def say(line)
    @mutex.synchronize do
      @lines << line
      @bytes_kept += line.bytesize
      @bytes_said += line.bytesize
      drop_older_half if @bytes_kept > KEPT_BYTES
      @said.broadcast
    end
  end

  # The member's next line, waited for; nil where it has left and heard everything.
  def next_line(member)
    @mutex.synchronize do
      member.writer = Thread.current
      @said.wait(@mutex) while member.place == @lines_dropped + @lines.size && !member.leaving
      line = @lines[member.place - @lines_dropped] if member.place >= @lines_dropped
      member.place += 1
      member.bytes_heard += line.bytesize if line
      line
    end
  end

  def bytes_behind(member)
    @bytes_said - member.bytes_heard
  end

  def leave(member)
    @mutex.synchronize do
      member.leaving = true
      @members.delete(member)
      # This writer alone: the condition variable would wake everybody's.
      member.writer&.wakeup if member.writer&.alive?
    end
  end

  private

  def drop_older_half
    while @bytes_kept > KEPT_BYTES / 2
      @bytes_kept -= @lines.shift.bytesize
      @lines_dropped += 1
    end
    @members.each { |member| cut_off(member.connection) if member.place < @lines_dropped }
  end
end

# What one connection has still to hear, for the two hand-overs with a queue each. Only one thread at a time puts, and
# only one takes: so each of the two counters has one writer.
class Outbox
  def initialize(connection)
    @connection = connection
    @lines = Thread::Queue.new
    @bytes_put = 0
    @bytes_taken = 0
  end

  def put(line)
    return cut_off(@connection) if bytes_behind + line.bytesize > KEPT_BYTES

    @bytes_put += line.bytesize
    @lines.push(line)
  end

  def take
    line = @lines.pop
    @bytes_taken += line.bytesize if line
    line
  end

  def bytes_behind = @bytes_put - @bytes_taken

  # What was put before is still taken; then comes nil.
  def close = @lines.close
end

# Whoever speaks fills everybody's queue.
class Queues
  def initialize
    @mutex = Mutex.new
    @members = Set.new
  end

  def join(connection)
    outbox = Outbox.new(connection)
    @mutex.synchronize { @members.add(outbox) }
    outbox
  end

  def say(line)
    @mutex.synchronize { @members.each { |outbox| outbox.put(line) } }
  end

  def next_line(outbox) = outbox.take

  def bytes_behind(outbox) = outbox.bytes_behind

  def leave(outbox)
    @mutex.synchronize { @members.delete(outbox) }
    outbox.close
  end
end

# One thread knows the members and fills their queues. Nobody else touches them, so there is no lock to take; who speaks
# faster than it delivers waits for room in its inbox.
class Broadcaster
  INBOX_LINES = 16

  def initialize
    @inbox = Thread::SizedQueue.new(INBOX_LINES)
    @members = Set.new
    Thread.new { loop { handle(*@inbox.pop) } }
  end

  def join(connection)
    outbox = Outbox.new(connection)
    joined = Thread::Queue.new
    @inbox.push([:join, outbox, joined])
    joined.pop
    outbox
  end

  def say(line) = @inbox.push([:say, line])

  def next_line(outbox) = outbox.take

  def bytes_behind(outbox) = outbox.bytes_behind

  def leave(outbox) = @inbox.push([:leave, outbox])

  private

  def handle(what, subject, joined = nil)
    case what
    when :join
      @members.add(subject)
      joined.close
    when :say
      @members.each { |outbox| outbox.put(subject) }
    when :leave
      @members.delete(subject)
      subject.close
    end
  end
end

def read_lines(connection, room)
  # Before the greeting: whoever has read it hears everything that is said from then on.
  member = room.join(connection)
  connection.write("connected\n")
  writer = Thread.new { write_lines(connection, room, member) }
  while (line = connection.gets("\n", LINE_BYTES))&.end_with?("\n")
    room.say(line)
    sleep(0.005) while room.bytes_behind(member) > AHEAD_BYTES && writer.alive?
  end
rescue SystemCallError, IOError, ThreadError
  # It was reset, or cut off, or there was no thread to be had for its writer.
ensure
  room.leave(member)
  writer&.join
  connection.close
end

def write_lines(connection, room, member)
  while (line = room.next_line(member))
    connection.write(line)
  end
rescue SystemCallError, IOError
  cut_off(connection)
end

def read_chunks(connection)
  chunks = Thread::SizedQueue.new(CHUNKS_KEPT)
  writer = Thread.new { write_chunks(connection, chunks) }
  # Until the queue is closed, because its writer has failed.
  loop { chunks.push(connection.readpartial(CHUNK_BYTES)) }
rescue SystemCallError, IOError, ThreadError
  # The end of input, or it was reset, or there was no thread to be had for its writer.
ensure
  # What was read before is still written.
  chunks.close
  writer&.join
  connection.close
end

def write_chunks(connection, chunks)
  while (chunk = chunks.pop)
    connection.write(chunk)
  end
rescue SystemCallError, IOError
  chunks.close
  cut_off(connection)
end

HAND_OVERS = { "condvar" => SharedList, "queues" => Queues, "broadcaster" => Broadcaster }.freeze

options = Contract.options(%w[echo broadcast]) do |flags, chosen|
  flags.on("--hand-over WAY", HAND_OVERS, HAND_OVERS.keys.join(", ")) { chosen.hand_over = _1 }
end
listeners = Contract.listen(options)
room = (options.hand_over || SharedList).new if options.workload == "broadcast"
Contract.ready(listeners)
Socket.accept_loop(listeners) do |connection|
  Thread.new { room ? read_lines(connection, room) : read_chunks(connection) }
rescue ThreadError
  # The kernel gives no more threads: this connection is not served, the others are.
  connection.close
end
