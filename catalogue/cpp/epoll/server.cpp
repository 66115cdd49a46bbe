// A server of one thread: an epoll loop serves every connection, and waits in
// epoll for all of them at once. The loop is event_loop.hpp beside this file;
// cpp/epoll-processes runs it in several processes.
#include "event_loop.hpp"

int main(int argc, char *argv[]) {
  const Options options =
      parse_options({argv, std::size_t(argc)},
                    {.workloads = {Workload::echo, Workload::broadcast,
                                   Workload::http, Workload::oneshot,
                                   Workload::framed},
                     .workers = std::nullopt});
  return guarded([&] {
    const sigset_t signals = block_ending_signals();
    const auto listeners = open_listeners(options, SOCK_NONBLOCK);
    EventLoop loop(options, listeners, signals);
    announce(listeners);
    loop.run();
    return 0;
  });
}
