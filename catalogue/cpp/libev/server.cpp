// A server on libev, through its C++ wrapper: one loop in one thread, and an
// object for each connection that owns the watchers of its readiness. Watchers
// are level-triggered: a callback reads or writes once, and is called again as
// long as there is more. What a client does not read is kept until it does, and
// nothing more is read from it meanwhile. Left out on purpose: making room when
// descriptors run out.
#include "../contract.hpp"

#include <ev++.h>

#include <array>
#include <list>

using namespace contract;

namespace {

class Connection;

// What all connections share.
struct Server {
  const Options &options;
  std::list<Connection> connections;
  std::array<char, 64 * 1024> buffer; // for the read of the moment
};

class Connection {
public:
  Connection(Server &server, Descriptor socket)
      : server_(server), socket_(std::move(socket)) {
    readable_.set<Connection, &Connection::on_readable>(this);
    writable_.set<Connection, &Connection::on_writable>(this);
    timer_.set<Connection, &Connection::on_timer>(this);
    readable_.start(socket_.get(), ev::READ);
    writable_.set(socket_.get(), ev::WRITE);
  }

  // Where it stands in the list, so that it can take itself out.
  void stands_at(std::list<Connection>::iterator place) { place_ = place; }

private:
  void on_readable(ev::io &, int) {
    auto &buffer = server_.buffer;
    const ssize_t length = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (length < 0 && errno == EAGAIN)
      return;
    if (length < 0)
      broken_ = true;
    else if (length == 0)
      ending_ = true;
    else if (lingering_)
      drop(std::size_t(length));
    else
      on_input({buffer.data(), std::size_t(length)});
    settle();
  }

  void on_writable(ev::io &, int) {
    output_.erase(0, send_some(output_));
    settle();
  }

  void on_timer(ev::timer &, int) {
    after_delay();
    settle();
  }

  void on_input(std::string_view bytes) {
    switch (server_.options.workload) {
    case Workload::http:
      input_.append(bytes);
      return answer_requests();
    case Workload::oneshot:
      return wait(server_.options.delay);
    case Workload::framed:
      input_.append(bytes);
      return answer_frames();
    default:
      return send(bytes);
    }
  }

  void after_delay() {
    if (lingering_) {
      broken_ = true;
    } else if (server_.options.workload == Workload::oneshot) {
      send(oneshot_answer);
      ending_ = true;
    } else if (server_.options.workload == Workload::framed) {
      answer_frames();
    } else {
      answer(request_);
      answer_requests();
    }
  }

  // Answers what has wholly come, until one of the requests has to wait.
  void answer_requests() {
    std::string_view rest = input_;
    while (!ending_ && !refused_ && !broken_ && !timer_.is_active()) {
      const HttpRequest request = parse_http(rest, server_.options.delay);
      if (request.state == HttpRequest::State::incomplete)
        break;
      if (request.state == HttpRequest::State::malformed) {
        refuse_request(http_bad_request);
        break;
      }
      rest.remove_prefix(request.length);
      if (request.delay > Milliseconds(0)) {
        request_ = request;
        wait(request.delay);
      } else {
        answer(request);
      }
    }
    input_.erase(0, input_.size() - rest.size());
  }

  void answer(const HttpRequest &request) {
    count_to(request.count);
    send(http_answer(request.keep_alive));
    ending_ = !request.keep_alive;
  }

  // Answers the frames that have wholly come. After one that was counted for it
  // is the others' turn, which a wait of no length makes it.
  void answer_frames() {
    std::string_view rest = input_;
    while (!refused_ && !broken_ && !timer_.is_active()) {
      const FramedRequest request = parse_framed(rest);
      if (request.state == FramedRequest::State::incomplete)
        break;
      const auto reply = framed_answer(request.state);
      if (request.state == FramedRequest::State::too_long) {
        refuse_request(reply);
        break;
      }
      rest.remove_prefix(request.length);
      count_to(request.count);
      send(reply);
      if (request.count > 0 && !rest.empty())
        wait(Milliseconds(0));
    }
    input_.erase(0, input_.size() - rest.size());
  }

  // Leaves so that the peer can read why, whatever it goes on sending.
  void refuse_request(std::string_view why) {
    send(why);
    refused_ = true;
  }

  void linger() {
    end_output(socket_.get());
    lingering_ = dropped_at_most;
    wait(lingers_at_most);
  }

  void drop(std::size_t length) {
    *lingering_ -= std::min(*lingering_, length);
    broken_ = *lingering_ == 0;
  }

  // libev counts from the time at which the loop woke up, which is past.
  void wait(Milliseconds delay) {
    ev_now_update(ev::get_default_loop());
    timer_.start(std::chrono::duration<double>(delay).count());
  }

  void send(std::string_view bytes) {
    if (output_.empty())
      bytes.remove_prefix(send_some(bytes));
    output_.append(bytes);
  }

  std::size_t send_some(std::string_view bytes) {
    const ssize_t sent =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN)
      broken_ = true;
    return std::size_t(std::max<ssize_t>(sent, 0));
  }

  // After every callback: waits for what can now help, or leaves.
  void settle() {
    if (broken_ || (ending_ && output_.empty())) {
      server_.connections.erase(place_); // this object is gone
      return;
    }
    if (refused_ && !lingering_ && output_.empty())
      linger();
    const bool reads = lingering_ || (output_.empty() && !ending_ &&
                                      !refused_ && !timer_.is_active());
    want(readable_, reads);
    want(writable_, !output_.empty());
  }

  static void want(ev::io &watcher, bool wanted) {
    if (wanted && !watcher.is_active())
      watcher.start();
    else if (!wanted && watcher.is_active())
      watcher.stop();
  }

  Server &server_;
  std::list<Connection>::iterator place_;
  Descriptor socket_; // is closed after its watchers have stopped
  ev::io readable_;
  ev::io writable_;
  ev::timer timer_;
  std::string input_;    // come, and not understood yet
  std::string output_;   // to be sent when the socket takes it
  HttpRequest request_;  // the one that waits for the timer
  bool ending_ = false;  // leaves as soon as the output is sent
  bool refused_ = false; // lingers as soon as the output is sent
  bool broken_ = false;  // leaves at once
  // Where it lingers: what may still be dropped of what comes.
  std::optional<std::size_t> lingering_;
};

// Accepts one connection each time the loop tells of one.
class Acceptor {
public:
  Acceptor(Server &server, const Listener &listener) : server_(server) {
    readable_.set<Acceptor, &Acceptor::on_readable>(this);
    readable_.start(listener.get(), ev::READ);
  }

private:
  void on_readable(ev::io &watcher, int) {
    Descriptor socket(
        accept4(watcher.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid())
      return;
    set_no_delay(socket.get());
    auto &connections = server_.connections;
    connections.emplace_front(server_, std::move(socket));
    connections.front().stands_at(connections.begin());
  }

  Server &server_;
  ev::io readable_;
};

void stop(ev::sig &, int) { ev::get_default_loop().break_loop(ev::ALL); }

} // namespace

int main(int argc, char *argv[]) {
  const Options options = parse_options(
      {argv, std::size_t(argc)},
      {.workloads = {Workload::echo, Workload::http, Workload::oneshot,
                     Workload::framed},
       .workers = std::nullopt});
  return guarded([&] {
    ev::default_loop loop;
    const auto listeners = open_listeners(options, SOCK_NONBLOCK);
    Server server{.options = options, .connections = {}, .buffer = {}};
    std::list<Acceptor> acceptors; // watchers must not move
    for (const Listener &listener : listeners)
      acceptors.emplace_back(server, listener);

    ev::sig terminate;
    terminate.set<stop>();
    terminate.start(SIGTERM);
    announce(listeners);
    loop.run(0);
    return 0;
  });
}
