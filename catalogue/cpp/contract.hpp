// What the C++ servers share: descriptors that close themselves, the flags of
// catalogue/CONTRACT.md, listeners, and the understanding of requests.
// Nothing here waits for anything: who waits for what is the servers' matter.
#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace contract {

using Milliseconds = std::chrono::duration<double, std::milli>;

[[noreturn]] inline void fail(const std::string &what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// A descriptor that is closed with its owner.
class Descriptor {
public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor &&other) noexcept
      : number_(std::exchange(other.number_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }

private:
  int number_;
};

// Numbers ---------------------------------------------------------------

// The text must be the number from its first character to its last.
template <typename Integer>
std::optional<Integer> parse_integer(std::string_view text) {
  Integer value{};
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

// Decimals are allowed, "inf" and "nan" are not, nor is more than a day.
inline std::optional<Milliseconds> parse_delay(std::string_view text) {
  constexpr double day = 24 * 60 * 60 * 1000.0;
  double value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(),
                                      value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(value >= 0 && value <= day))
    return std::nullopt;
  return Milliseconds(value);
}

// Counts in a way that no optimiser may shorten.
inline void count_to(std::uint64_t limit) {
  volatile std::uint64_t counter = 0;
  while (counter < limit)
    counter = counter + 1;
}

// Flags -----------------------------------------------------------------

enum class Workload { echo, broadcast, http, oneshot, framed };

inline std::optional<Workload> parse_workload(std::string_view name) {
  if (name == "echo")
    return Workload::echo;
  if (name == "broadcast")
    return Workload::broadcast;
  if (name == "http")
    return Workload::http;
  if (name == "oneshot")
    return Workload::oneshot;
  if (name == "framed")
    return Workload::framed;
  return std::nullopt;
}

// Where to listen, as a sockaddr. The path is that of a Unix socket, or empty.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  std::string path;

  sockaddr *get() { return reinterpret_cast<sockaddr *>(&storage); }
  const sockaddr *get() const {
    return reinterpret_cast<const sockaddr *>(&storage);
  }
};

inline std::optional<Address> parse_unix_address(std::string_view path) {
  sockaddr_un unix_address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.empty() || path.size() >= sizeof unix_address.sun_path)
    return std::nullopt;
  path.copy(unix_address.sun_path, path.size());
  Address address;
  std::memcpy(&address.storage, &unix_address, sizeof unix_address);
  address.length = sizeof unix_address;
  address.path = path;
  return address;
}

inline std::optional<Address> parse_address(std::string_view text) {
  constexpr std::string_view unix_prefix = "unix:";
  if (text.starts_with(unix_prefix))
    return parse_unix_address(text.substr(unix_prefix.size()));

  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  std::string host(text.substr(0, colon));
  const std::string port(text.substr(colon + 1));
  if (!parse_integer<std::uint16_t>(port))
    return std::nullopt;
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);

  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo *found = nullptr;
  if (host.empty() || getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
    return std::nullopt;
  Address address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.length = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

struct Options {
  std::vector<Address> listen;
  Workload workload{};
  int backlog = 1024;
  int workers = 0;
  Milliseconds delay{0};
};

[[noreturn]] inline void refuse(std::string_view flag, std::string_view why) {
  std::cerr << flag << ": " << why << '\n';
  std::exit(2);
}

// What a server can do, so that everything else is refused. It has a fixed
// number of workers where `workers` is given: that many unless --workers says
// otherwise.
struct Abilities {
  std::vector<Workload> workloads;
  std::optional<int> workers;
};

inline Options parse_options(std::span<char *> words,
                             const Abilities &abilities) {
  Options options;
  options.workers = abilities.workers.value_or(0);
  bool workload_given = false;

  for (std::size_t i = 1; i < words.size(); i += 2) {
    const std::string_view flag = words[i];
    const bool has_value = i + 1 < words.size();
    const std::string_view value = has_value ? words[i + 1] : "";
    auto required = [&](auto parsed) {
      if (!has_value || !parsed)
        refuse(flag, "'" + std::string(value) + "' is no value for it");
      return *parsed;
    };

    if (flag == "--listen") {
      options.listen.push_back(required(parse_address(value)));
    } else if (flag == "--workload") {
      options.workload = required(parse_workload(value));
      workload_given = true;
      if (std::ranges::count(abilities.workloads, options.workload) == 0)
        refuse(flag, "this server has no " + std::string(value));
    } else if (flag == "--backlog") {
      options.backlog = required(parse_integer<int>(value));
      if (options.backlog < 0)
        refuse(flag, "must not be negative");
    } else if (flag == "--workers" && abilities.workers) {
      options.workers = required(parse_integer<int>(value));
      if (options.workers < 1)
        refuse(flag, "must be at least 1");
    } else if (flag == "--delay-ms") {
      options.delay = required(parse_delay(value));
    } else {
      refuse(flag, "this server has no such flag");
    }
  }

  if (options.listen.empty())
    refuse("--listen", "must be given");
  if (!workload_given)
    refuse("--workload", "must be given");
  return options;
}

// Listeners -------------------------------------------------------------

// A listening socket; a Unix socket's path leaves with it.
class Listener {
public:
  Listener(const Address &address, int backlog, int socket_flags = 0)
      : socket_(::socket(address.storage.ss_family,
                         SOCK_STREAM | SOCK_CLOEXEC | socket_flags, 0)) {
    const int on = 1;
    if (!socket_.valid() ||
        setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
        bind(socket_.get(), address.get(), address.length))
      fail("cannot listen");
    path_ = address.path;
    if (listen(socket_.get(), backlog) != 0)
      fail("cannot listen");
  }
  Listener(Listener &&other) noexcept
      : socket_(std::move(other.socket_)),
        path_(std::exchange(other.path_, "")) {}
  ~Listener() { remove_path(); }

  void remove_path() {
    if (!path_.empty())
      ::unlink(path_.c_str());
    path_.clear();
  }

  int get() const { return socket_.get(); }

  // The address that was bound, as the contract writes it.
  std::string name() const {
    if (!path_.empty())
      return "unix:" + path_;
    Address bound;
    bound.length = sizeof bound.storage;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getsockname(socket_.get(), bound.get(), &bound.length) ||
        getnameinfo(bound.get(), bound.length, host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV))
      fail("cannot name the listener");
    return bound.storage.ss_family == AF_INET6
               ? "[" + std::string(host) + "]:" + port
               : std::string(host) + ":" + port;
  }

private:
  Descriptor socket_;
  std::string path_;
};

inline std::vector<Listener> open_listeners(const Options &options,
                                            int socket_flags = 0) {
  std::vector<Listener> listeners;
  for (const Address &address : options.listen)
    listeners.emplace_back(address, options.backlog, socket_flags);
  return listeners;
}

inline void announce(std::span<const Listener> listeners) {
  for (const Listener &listener : listeners)
    std::cout << "ready " << listener.name() << '\n';
  std::cout.flush();
}

// Answers go out at once, not when the peer has acknowledged what came before.
// A Unix socket knows no such option, and needs none.
inline void set_no_delay(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// A socket that is closed with unread input resets its connection, and a reset
// destroys what the peer has not read yet. So a refusal is followed by the end
// of output alone, and what still comes is dropped until the peer ends its own:
// so many bytes and for so long at most.
constexpr std::size_t dropped_at_most = 1024 * 1024;
constexpr Milliseconds lingers_at_most{1000};

inline void end_output(int socket) { shutdown(socket, SHUT_WR); }

// The signals that end a server, blocked in this thread and in those it starts,
// to be waited for rather than handled.
inline sigset_t block_ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// A server that cannot do its work says why, and ends with status 1.
template <typename Body> int guarded(Body body) {
  try {
    return body();
  } catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

// Answers ---------------------------------------------------------------

constexpr std::string_view oneshot_answer = "HTTP/1.1 200 OK\r\n\r\nok\r\n";
constexpr std::string_view http_bad_request =
    "HTTP/1.1 400 Bad Request\r\n"
    "Content-Length: 0\r\nConnection: close\r\n\r\n";

constexpr std::string_view http_answer(bool keep_alive) {
  return keep_alive ? "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                      "Content-Length: 2\r\nConnection: keep-alive\r\n\r\nok"
                    : "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                      "Content-Length: 2\r\nConnection: close\r\n\r\nok";
}

// HTTP ------------------------------------------------------------------

// As much of HTTP/1 as the contract asks for: GET without a body.
struct HttpRequest {
  enum class State { incomplete, malformed, complete };

  State state = State::incomplete;
  std::size_t length = 0; // of the request, in bytes
  Milliseconds delay{0};
  std::uint64_t count = 0;
  bool keep_alive = true;
};

inline bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// Cuts the text off at the mark, which belongs to neither part.
inline std::string_view cut(std::string_view &text, char mark) {
  const auto end = std::min(text.find(mark), text.size());
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

inline std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

inline bool parse_query(std::string_view query, HttpRequest &request) {
  while (!query.empty()) {
    auto value = cut(query, '&');
    const auto name = cut(value, '=');
    if (name == "delay") {
      const auto delay = parse_delay(value);
      if (!delay)
        return false;
      request.delay = *delay;
    } else if (name == "count") {
      const auto count = parse_integer<std::uint64_t>(value);
      if (!count)
        return false;
      request.count = *count;
    }
  }
  return true;
}

inline bool parse_request_line(std::string_view line, HttpRequest &request) {
  const auto method = cut(line, ' ');
  auto target = cut(line, ' ');
  const auto version = line;
  if (method != "GET" || target.empty() ||
      (version != "HTTP/1.1" && version != "HTTP/1.0"))
    return false;
  request.keep_alive = version == "HTTP/1.1";
  cut(target, '?');
  return parse_query(target, request);
}

inline bool parse_header(std::string_view line, HttpRequest &request) {
  const auto is_token = [](unsigned char c) {
    return std::isalnum(c) || std::strchr("!#$%&'*+-.^_`|~", c);
  };
  if (line.find(':') == std::string_view::npos)
    return false;
  const auto name = cut(line, ':');
  if (name.empty() || !std::ranges::all_of(name, is_token))
    return false;
  if (!equals_ignoring_case(name, "connection"))
    return true;
  while (!line.empty()) {
    const auto option = trim(cut(line, ','));
    if (equals_ignoring_case(option, "close"))
      request.keep_alive = false;
    else if (equals_ignoring_case(option, "keep-alive"))
      request.keep_alive = true;
  }
  return true;
}

// Reads the request at the beginning of `input`. What has not wholly come is
// read again from its beginning when more is there: requests are short.
inline HttpRequest parse_http(std::string_view input, Milliseconds delay) {
  constexpr std::size_t longest_head = 16 * 1024;
  HttpRequest request{.delay = delay};
  bool first = true;
  for (std::size_t begin = 0;;) {
    const auto end = input.find('\n', begin);
    if (end == std::string_view::npos || end > longest_head) {
      if (input.size() > longest_head)
        request.state = HttpRequest::State::malformed;
      return request;
    }
    auto line = input.substr(begin, end - begin);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    begin = end + 1;
    if (line.empty() && !first) {
      request.state = HttpRequest::State::complete;
      request.length = begin;
      return request;
    }
    const bool understood =
        first ? parse_request_line(line, request) : parse_header(line, request);
    if (!understood) {
      request.state = HttpRequest::State::malformed;
      return request;
    }
    first = false;
  }
}

// Frames ----------------------------------------------------------------

constexpr std::size_t longest_frame = 64 * 1024;

// A length of four bytes, the highest first, and so many bytes of JSON.
struct FramedRequest {
  enum class State { incomplete, too_long, malformed, complete };

  State state = State::incomplete;
  std::size_t length = 0; // of the frame, with its length
  std::uint64_t count = 0;
};

// The library tells a whole number from 0 from all other numbers, and what is
// no JSON from all objects.
inline std::optional<std::uint64_t> parse_count(std::string_view text) {
  const auto request = nlohmann::json::parse(text, nullptr, false);
  if (!request.is_object())
    return std::nullopt;
  const auto count = request.find("count");
  if (count == request.end())
    return 0;
  if (!count->is_number_unsigned())
    return std::nullopt;
  return count->get<std::uint64_t>();
}

// Reads the frame at the beginning of `input`, as soon as it has wholly come.
inline FramedRequest parse_framed(std::string_view input) {
  FramedRequest request;
  std::uint32_t size;
  if (input.size() < sizeof size)
    return request;
  std::memcpy(&size, input.data(), sizeof size);
  size = ntohl(size);
  if (size > longest_frame) {
    request.state = FramedRequest::State::too_long;
    return request;
  }
  input.remove_prefix(sizeof size);
  if (input.size() < size)
    return request;
  request.length = sizeof size + size;
  const auto count = parse_count(input.substr(0, size));
  request.state = count ? FramedRequest::State::complete
                        : FramedRequest::State::malformed;
  request.count = count.value_or(0);
  return request;
}

inline std::string frame(const nlohmann::json &value) {
  const std::string text = value.dump();
  const std::uint32_t size = htonl(std::uint32_t(text.size()));
  std::string bytes(sizeof size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  return bytes += text;
}

inline std::string framed_answer(FramedRequest::State state) {
  switch (state) {
  case FramedRequest::State::complete:
    return frame({{"code", 200}, {"msg", "ok"}});
  case FramedRequest::State::too_long:
    return frame({{"code", 400}, {"msg", "the frame is too long"}});
  default:
    return frame({{"code", 400}, {"msg", "no object with a whole count"}});
  }
}

} // namespace contract
