// A fixed number of threads, each of which blocks in accept and then serves
// that one connection until it ends, blocking in read and write. The kernel
// decides who runs; a connection beyond the number of threads waits in the
// listener's queue until a thread is free. Left out on purpose: broadcast, for
// a thread that waits for its own client's bytes cannot hand on those of the
// others.
#include "../contract.hpp"

#include <poll.h>

#include <array>
#include <thread>

using namespace contract;

namespace {

// A connection as a blocking stream. Its operations tell of an end rather than
// throw: that a client leaves is nothing unusual.
class Connection {
public:
  explicit Connection(Descriptor socket) : socket_(std::move(socket)) {
    set_no_delay(socket_.get());
  }

  // Waits for bytes. None means that no more will come.
  std::string_view read() {
    const ssize_t length =
        recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    return {buffer_.data(), std::size_t(std::max<ssize_t>(length, 0))};
  }

  // Waits until the kernel has taken all of it.
  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent =
          send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0)
        return false;
      bytes.remove_prefix(std::size_t(sent));
    }
    return true;
  }

  // Lets the peer read the last that was written, whatever it goes on sending.
  void linger() {
    end_output(socket_.get());
    const auto end = std::chrono::steady_clock::now() + lingers_at_most;
    for (std::size_t dropped = 0; dropped < dropped_at_most;) {
      const Milliseconds left = end - std::chrono::steady_clock::now();
      pollfd socket{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      if (left.count() <= 0 || poll(&socket, 1, int(left.count())) <= 0)
        return;
      const auto bytes = read();
      if (bytes.empty())
        return;
      dropped += bytes.size();
    }
  }

private:
  Descriptor socket_;
  std::array<char, 64 * 1024> buffer_;
};

void serve_echo(Connection &connection) {
  for (;;) {
    const auto bytes = connection.read();
    if (bytes.empty() || !connection.write(bytes))
      return;
  }
}

void serve_http(Connection &connection, Milliseconds delay) {
  std::string input;
  for (;;) {
    const HttpRequest request = parse_http(input, delay);
    if (request.state == HttpRequest::State::incomplete) {
      const auto bytes = connection.read();
      if (bytes.empty())
        return;
      input.append(bytes);
      continue;
    }
    if (request.state == HttpRequest::State::malformed) {
      connection.write(http_bad_request);
      return connection.linger();
    }
    input.erase(0, request.length);
    std::this_thread::sleep_for(request.delay);
    count_to(request.count);
    if (!connection.write(http_answer(request.keep_alive)) ||
        !request.keep_alive)
      return;
  }
}

void serve_framed(Connection &connection) {
  std::string input;
  for (;;) {
    std::string_view rest = input;
    for (;;) {
      const FramedRequest request = parse_framed(rest);
      if (request.state == FramedRequest::State::incomplete)
        break;
      count_to(request.count);
      if (!connection.write(framed_answer(request.state)))
        return;
      if (request.state == FramedRequest::State::too_long)
        return connection.linger();
      rest.remove_prefix(request.length);
    }
    input.erase(0, input.size() - rest.size());
    const auto bytes = connection.read();
    if (bytes.empty())
      return;
    input.append(bytes);
  }
}

void serve_oneshot(Connection &connection, Milliseconds delay) {
  if (connection.read().empty())
    return;
  std::this_thread::sleep_for(delay);
  connection.write(oneshot_answer);
}

void serve(Connection &connection, const Options &options) {
  switch (options.workload) {
  case Workload::http:
    return serve_http(connection, options.delay);
  case Workload::oneshot:
    return serve_oneshot(connection, options.delay);
  case Workload::framed:
    return serve_framed(connection);
  default:
    return serve_echo(connection);
  }
}

// Blocks in accept. With several listeners no single accept can be waited in:
// then the thread waits for any of them, and tries those that have something.
Descriptor next_connection(std::span<const Listener> listeners) {
  if (listeners.size() == 1)
    return Descriptor(
        accept4(listeners[0].get(), nullptr, nullptr, SOCK_CLOEXEC));

  std::vector<pollfd> waiting;
  for (const Listener &listener : listeners)
    waiting.push_back({.fd = listener.get(), .events = POLLIN, .revents = 0});
  poll(waiting.data(), waiting.size(), -1);
  for (const pollfd &listener : waiting) {
    if (listener.revents == 0)
      continue;
    Descriptor socket(accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.valid())
      return socket;
  }
  return Descriptor(); // others were quicker
}

void work(const Options &options, std::span<const Listener> listeners) {
  for (;;) {
    Descriptor socket = next_connection(listeners);
    if (!socket.valid())
      continue;
    Connection connection(std::move(socket));
    serve(connection, options);
  }
}

} // namespace

int main(int argc, char *argv[]) {
  const Options options = parse_options(
      {argv, std::size_t(argc)},
      {.workloads = {Workload::echo, Workload::http, Workload::oneshot,
                     Workload::framed},
       .workers = 120});
  return guarded([&]() -> int {
    const sigset_t signals = block_ending_signals();
    const bool several = options.listen.size() > 1;
    auto listeners = open_listeners(options, several ? SOCK_NONBLOCK : 0);
    for (int i = 0; i < options.workers; ++i)
      std::thread(work, std::cref(options), std::span(listeners)).detach();
    std::cout << "workers " << options.workers << "\nserves-at-once "
              << options.workers << '\n';
    announce(listeners);

    int signal = 0;
    sigwait(&signals, &signal);
    for (Listener &listener : listeners)
      listener.remove_path();
    // The threads are blocked somewhere, and end with the process.
    std::quick_exit(0);
  });
}
