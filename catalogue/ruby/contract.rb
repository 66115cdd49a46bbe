# frozen_string_literal: true

# What the Ruby servers beside this file have in common before the first connection: flags, listening sockets, the
# `ready` lines and the end at SIGTERM. They find it by `require_relative "../contract"`.
#
# Left out on purpose: everything about connections and bytes. How those are served is what each server shows.

require "optparse"
require "socket"

module Contract
  Options = Struct.new(:addresses, :workload, :backlog, :delay, :hand_over)

  module_function

  # Reads the command line. A server with a flag of its own adds it to the parser in the block.
  def options(workloads)
    options = Options.new([], nil, 1024, 0.0)
    parser = OptionParser.new do |flags|
      flags.on("--listen ADDRESS", "127.0.0.1:7000, [::1]:7000, unix:PATH") { options.addresses << address(_1) }
      flags.on("--workload NAME", workloads, workloads.join(", ")) { options.workload = _1 }
      flags.on("--backlog N", OptionParser::DecimalInteger) { options.backlog = natural(_1) }
      flags.on("--delay-ms N", OptionParser::DecimalNumeric) { options.delay = natural(_1) / 1000.0 }
      yield flags, options if block_given?
    end
    parser.require_exact = true
    rest = parser.parse(ARGV)
    refuse("unexpected argument: #{rest.first}") if rest.any?
    refuse("missing flag: --listen") if options.addresses.empty?
    refuse("missing flag: --workload") unless options.workload
    options
  rescue OptionParser::ParseError => e
    refuse(e.message)
  end

  # Binds every address. Accepted sockets inherit TCP_NODELAY from their listener.
  def listen(options)
    listeners = options.addresses.map { open_listener(_1, options.backlog) }
    paths = listeners.map(&:local_address).select(&:unix?).map(&:unix_path)
    leave = proc do
      paths.each { File.unlink(_1) if File.socket?(_1) }
      # At once and without waiting for the threads, of which there may be thousands.
      exit!(0)
    end
    %w[TERM INT].each { trap(_1, leave) }
    listeners
  end

  # To be called when whoever connects is served.
  def ready(listeners)
    listeners.map(&:local_address).each do |address|
      puts "ready #{address.unix? ? "unix:#{address.unix_path}" : address.inspect_sockaddr}"
    end
    $stdout.flush
  end

  def address(text)
    case text
    when /\Aunix:(.+)\z/ then [$1]
    when /\A(?:\[([\h:.]+)\]|([^:\[\]]+)):(\d{1,5})\z/ then [$1 || $2, Integer($3, 10)]
    else raise OptionParser::InvalidArgument, text
    end
  end

  def natural(number)
    raise OptionParser::InvalidArgument, number.to_s if number.negative?

    number
  end

  # Ruby's own TCPServer has SO_REUSEADDR, and listens already; the second `listen` only sets the backlog.
  def open_listener(address, backlog)
    listener = address.size == 1 ? UNIXServer.new(*address) : TCPServer.new(*address)
    listener.setsockopt(:TCP, :NODELAY, true) if listener.is_a?(TCPServer)
    listener.listen(backlog)
    listener
  rescue SystemCallError, SocketError => e
    abort("cannot listen on #{address.join(" port ")}: #{e.message}")
  end

  def refuse(message)
    warn(message)
    exit(2)
  end

  private_class_method :address, :natural, :open_listener, :refuse
end
