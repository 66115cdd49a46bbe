// One thread and one epoll: the loop waits for readiness of any descriptor, and
// nothing else in it ever blocks. Listeners are level-triggered: one accept a
// turn is enough, for what is left in the queue is reported again. Connections
// are edge-triggered: each report is followed by reading until nothing is left.
// Left out on purpose: making room when descriptors run out.
#pragma once

#include "../contract.hpp"

#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <array>
#include <map>
#include <unordered_map>

using namespace contract;

using Clock = std::chrono::steady_clock;

class EventLoop {
public:
  EventLoop(const Options &options, std::span<const Listener> listeners,
            const sigset_t &ending_signals)
      : options_(options), epoll_(epoll_create1(EPOLL_CLOEXEC)),
        signals_(signalfd(-1, &ending_signals, SFD_CLOEXEC)) {
    if (!epoll_.valid() || !signals_.valid())
      fail("cannot make an event loop");
    watch(signals_.get(), EPOLLIN);
    for (const Listener &listener : listeners)
      watch(listener.get(), EPOLLIN);
  }

  // Serves until a signal asks to end.
  void run() {
    std::array<epoll_event, 256> events;
    for (;;) {
      const auto ready = wait(events);
      for (const epoll_event &event : ready) {
        const int number = event.data.fd;
        if (number == signals_.get())
          return;
        if (auto found = connections_.find(number); found != connections_.end())
          on_event(found->second, event.events);
        else
          accept_from(number);
      }
      fire_timers();
      continue_unfinished();
      drop_closed();
    }
  }

private:
  struct Connection;
  using Timers = std::multimap<Clock::time_point, Connection *>;

  struct Connection {
    Descriptor socket;
    std::string input;   // come, and not understood yet
    std::string output;  // to be sent when the socket takes it
    HttpRequest request; // the one that waits for its timer
    std::optional<Timers::iterator> timer;
    bool peer_ended = false; // the end of input is there, or soon read
    bool ending = false;     // closes as soon as the output is sent
    bool refused = false;    // lingers rather than closes
    bool closed = false;     // leaves the table at the end of this turn
    // Where it lingers: what may still be dropped of what comes.
    std::optional<std::size_t> lingering;
  };

  // What is kept at most for a listener to a broadcast, and of a line.
  static constexpr std::size_t kept_at_most = 1024 * 1024;
  // How often one connection is read before it is the others' turn.
  static constexpr int reads_in_a_row = 16;

  // Waiting -------------------------------------------------------------

  void watch(int number, std::uint32_t events) {
    epoll_event event{.events = events, .data = {.fd = number}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, number, &event) != 0)
      fail("cannot watch a descriptor");
  }

  std::span<epoll_event> wait(std::span<epoll_event> events) {
    using namespace std::chrono;
    std::optional<nanoseconds> longest;
    if (!unfinished_.empty())
      longest = 0ns;
    else if (!timers_.empty())
      longest =
          std::max<nanoseconds>(timers_.begin()->first - Clock::now(), 0ns);
    timespec timeout{};
    if (longest) {
      timeout.tv_sec = duration_cast<seconds>(*longest).count();
      timeout.tv_nsec = (*longest % 1s).count();
    }
    const int count =
        epoll_pwait2(epoll_.get(), events.data(), int(events.size()),
                     longest ? &timeout : nullptr, nullptr);
    if (count < 0 && errno != EINTR)
      fail("cannot wait");
    return events.first(std::size_t(std::max(count, 0)));
  }

  void accept_from(int listener) {
    Descriptor socket(
        accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid())
      return; // it has gone already, or another process took it
    set_no_delay(socket.get());
    const int number = socket.get();
    watch(number, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    Connection &connection = connections_[number];
    connection.socket = std::move(socket);
    if (options_.workload == Workload::broadcast)
      send(connection, "connected\n");
  }

  void on_event(Connection &connection, std::uint32_t events) {
    if (events & EPOLLERR)
      return close(connection);
    if (events & EPOLLRDHUP)
      connection.peer_ended = true;
    flush(connection);
    read(connection);
  }

  // Those that are started meanwhile have to wait for the next turn.
  void fire_timers() {
    const auto now = Clock::now();
    while (!timers_.empty() && timers_.begin()->first <= now) {
      Connection &connection = *timers_.begin()->second;
      timers_.erase(timers_.begin());
      connection.timer.reset();
      after_delay(connection);
      read(connection);
    }
  }

  // Edges do not come again: who was interrupted for the others' sake is
  // remembered here.
  void continue_unfinished() {
    for (const int number : std::exchange(unfinished_, {}))
      if (auto found = connections_.find(number); found != connections_.end())
        read(found->second);
  }

  // Reading and writing -------------------------------------------------

  bool wants_input(const Connection &connection) const {
    // Who does not read is not read from, but for a broadcast, where it is
    // closed once too much is kept for it.
    return !connection.closed &&
           (connection.lingering ||
            (!connection.ending && !connection.timer &&
             (connection.output.empty() ||
              options_.workload == Workload::broadcast)));
  }

  void read(Connection &connection) {
    for (int i = 0; i < reads_in_a_row; ++i) {
      if (!wants_input(connection))
        return;
      const ssize_t length =
          recv(connection.socket.get(), buffer_.data(), buffer_.size(), 0);
      if (length < 0) {
        if (errno != EAGAIN)
          close(connection);
        return;
      }
      if (length == 0)
        return on_end_of_input(connection);
      if (connection.lingering)
        drop(connection, std::size_t(length));
      else
        on_input(connection, {buffer_.data(), std::size_t(length)});
      // A short read has emptied the socket; what comes later is a new edge.
      // Only an end that has already been reported is still to be read.
      if (std::size_t(length) < buffer_.size() && !connection.peer_ended)
        return;
    }
    unfinished_.push_back(connection.socket.get());
  }

  void send(Connection &connection, std::string_view bytes) {
    if (connection.closed)
      return;
    if (connection.output.empty())
      bytes.remove_prefix(send_some(connection, bytes));
    connection.output.append(bytes);
  }

  void flush(Connection &connection) {
    if (!connection.output.empty())
      connection.output.erase(0, send_some(connection, connection.output));
    close_when_sent(connection);
  }

  std::size_t send_some(Connection &connection, std::string_view bytes) {
    const ssize_t sent = ::send(connection.socket.get(), bytes.data(),
                                bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN)
      close(connection);
    return std::size_t(std::max<ssize_t>(sent, 0));
  }

  void end(Connection &connection) {
    connection.ending = true;
    close_when_sent(connection);
  }

  // Ends so that the peer can read why, whatever it goes on sending.
  void refuse_request(Connection &connection, std::string_view why) {
    send(connection, why);
    connection.refused = true;
    end(connection);
  }

  void close_when_sent(Connection &connection) {
    if (!connection.ending || !connection.output.empty())
      return;
    if (!connection.refused)
      return close(connection);
    if (connection.closed || connection.lingering)
      return;
    end_output(connection.socket.get());
    connection.lingering = dropped_at_most;
    start_timer(connection, lingers_at_most);
  }

  void drop(Connection &connection, std::size_t length) {
    auto &left = *connection.lingering;
    left -= std::min(left, length);
    if (left == 0)
      close(connection);
  }

  // Events of this turn may still name the descriptor, so that it is not given
  // back before the turn's end.
  void close(Connection &connection) {
    if (connection.closed)
      return;
    connection.closed = true;
    if (connection.timer)
      timers_.erase(*std::exchange(connection.timer, std::nullopt));
    closed_.push_back(connection.socket.get());
  }

  void drop_closed() {
    for (const int number : std::exchange(closed_, {}))
      connections_.erase(number);
  }

  // Workloads -----------------------------------------------------------

  void on_input(Connection &connection, std::string_view bytes) {
    switch (options_.workload) {
    case Workload::echo:
      return send(connection, bytes);
    case Workload::broadcast:
      return broadcast_lines(connection, bytes);
    case Workload::http:
      connection.input.append(bytes);
      return answer_requests(connection);
    case Workload::oneshot:
      return start_timer(connection, options_.delay);
    case Workload::framed:
      connection.input.append(bytes);
      return answer_frames(connection);
    }
  }

  void on_end_of_input(Connection &connection) {
    if (options_.workload == Workload::broadcast || connection.lingering)
      close(connection);
    else
      end(connection);
  }

  void after_delay(Connection &connection) {
    if (connection.lingering) {
      close(connection);
    } else if (options_.workload == Workload::oneshot) {
      send(connection, oneshot_answer);
      end(connection);
    } else if (options_.workload == Workload::framed) {
      answer_frames(connection);
    } else {
      answer(connection, connection.request);
      answer_requests(connection);
    }
  }

  void broadcast_lines(Connection &sender, std::string_view bytes) {
    const auto last = bytes.rfind('\n');
    if (last != std::string_view::npos) {
      sender.input.append(bytes.substr(0, last + 1));
      const std::string lines = std::exchange(sender.input, {});
      for (auto &[number, connection] : connections_) {
        send(connection, lines);
        if (connection.output.size() > kept_at_most)
          close(connection);
      }
      bytes.remove_prefix(last + 1);
    }
    sender.input.append(bytes);
    if (sender.input.size() > kept_at_most)
      close(sender);
  }

  // Answers what has wholly come, until one of the requests has to wait.
  void answer_requests(Connection &connection) {
    std::string_view rest = connection.input;
    while (!connection.ending && !connection.closed && !connection.timer) {
      const HttpRequest request = parse_http(rest, options_.delay);
      if (request.state == HttpRequest::State::incomplete)
        break;
      if (request.state == HttpRequest::State::malformed) {
        refuse_request(connection, http_bad_request);
        break;
      }
      rest.remove_prefix(request.length);
      if (request.delay > Milliseconds(0)) {
        connection.request = request;
        start_timer(connection, request.delay);
      } else {
        answer(connection, request);
      }
    }
    connection.input.erase(0, connection.input.size() - rest.size());
  }

  void answer(Connection &connection, const HttpRequest &request) {
    count_to(request.count);
    send(connection, http_answer(request.keep_alive));
    if (!request.keep_alive)
      end(connection);
  }

  // Answers the frames that have wholly come. After one that was counted for it
  // is the others' turn, which a delay of no length makes it.
  void answer_frames(Connection &connection) {
    std::string_view rest = connection.input;
    while (!connection.ending && !connection.closed && !connection.timer) {
      const FramedRequest request = parse_framed(rest);
      if (request.state == FramedRequest::State::incomplete)
        break;
      const auto reply = framed_answer(request.state);
      if (request.state == FramedRequest::State::too_long) {
        refuse_request(connection, reply);
        break;
      }
      rest.remove_prefix(request.length);
      count_to(request.count);
      send(connection, reply);
      if (request.count > 0 && !rest.empty() && !connection.closed)
        start_timer(connection, Milliseconds(0));
    }
    connection.input.erase(0, connection.input.size() - rest.size());
  }

  void start_timer(Connection &connection, Milliseconds delay) {
    const auto due = Clock::now() + std::chrono::ceil<Clock::duration>(delay);
    connection.timer = timers_.emplace(due, &connection);
  }

  const Options &options_;
  Descriptor epoll_;
  Descriptor signals_;
  std::unordered_map<int, Connection> connections_; // by descriptor
  Timers timers_;
  std::vector<int> unfinished_;
  std::vector<int> closed_;
  std::array<char, 64 * 1024> buffer_; // for the read of the moment
};
