// Several processes with an epoll loop each, which share the listeners: all of
// them are told of a new connection, and whoever comes first has it. The parent
// serves nobody; it waits for a signal, or for the death of one of its own, and
// takes the others along. Left out on purpose: broadcast, for which the
// processes would have to talk to each other.
#include "../epoll/event_loop.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

namespace {

// Serves in this process, and never returns.
[[noreturn]] void serve(const Options &options,
                        std::span<const Listener> listeners,
                        const sigset_t &signals) {
  prctl(PR_SET_PDEATHSIG, SIGTERM); // no parent, no children
  const int status = guarded([&] {
    EventLoop(options, listeners, signals).run();
    return 0;
  });
  _exit(status); // what is destroyed at the end is the parent's
}

std::vector<pid_t> start_workers(const Options &options,
                                 std::span<const Listener> listeners,
                                 const sigset_t &signals) {
  std::vector<pid_t> workers;
  for (int i = 0; i < options.workers; ++i) {
    const pid_t worker = fork();
    if (worker < 0)
      fail("cannot start a process");
    if (worker == 0)
      serve(options, listeners, signals);
    workers.push_back(worker);
  }
  return workers;
}

void stop_workers(std::span<const pid_t> workers) {
  for (const pid_t worker : workers)
    kill(worker, SIGTERM);
  for (const pid_t worker : workers)
    waitpid(worker, nullptr, 0);
}

} // namespace

int main(int argc, char *argv[]) {
  const Options options = parse_options(
      {argv, std::size_t(argc)},
      {.workloads = {Workload::echo, Workload::http, Workload::oneshot,
                     Workload::framed},
       .workers = 2});
  return guarded([&] {
    const sigset_t signals = block_ending_signals();
    sigset_t awaited = signals;
    sigaddset(&awaited, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &awaited, nullptr);

    const auto listeners = open_listeners(options, SOCK_NONBLOCK);
    const auto workers = start_workers(options, listeners, signals);
    std::cout << "workers " << workers.size() << '\n';
    announce(listeners);

    int signal = 0;
    sigwait(&awaited, &signal);
    stop_workers(workers);
    if (signal == SIGCHLD)
      std::cerr << "a worker has died\n";
    return signal == SIGCHLD ? 1 : 0;
  });
}
