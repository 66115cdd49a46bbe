// A server on libuv: one loop in one thread, which reads and writes on behalf
// of all connections and calls back here when something has come or has gone
// out. A connection that has output waiting is not read from, so that what is
// kept for it stays small; only a broadcast goes on, and closes who is too far
// behind. Left out on purpose: giving way when memory or descriptors run out.
#define _GNU_SOURCE // memrchr
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

enum {
  LISTENERS_AT_MOST = 64,
  HEAD_AT_MOST = 16 * 1024,   // bytes of a request of HTTP
  KEPT_AT_MOST = 1024 * 1024, // bytes for who listens to a broadcast
  BUFFER_SIZE = 64 * 1024,
};

typedef enum { DO_ECHO, DO_BROADCAST, DO_HTTP, DO_ONESHOT } workload_t;

static struct {
  workload_t workload;
  int backlog;
  double delay_ms;
  const char *listen[LISTENERS_AT_MOST];
  int listeners;
} options = {.backlog = 1024};

typedef union { // what a listener and a connection may be, as one stream
  uv_handle_t handle;
  uv_stream_t stream;
  uv_tcp_t tcp;
  uv_pipe_t pipe;
} socket_t;

typedef struct {
  uint64_t delay_ms;
  uint64_t count;
  bool keep_alive;
} request_t;

typedef struct connection {
  socket_t socket;
  uv_timer_t timer;
  int open_handles; // the memory is given back after the last one
  bool waiting;     // for the timer; nothing is read meanwhile
  bool ending;      // closes as soon as the output is sent
  char *input;      // come, and not understood yet
  size_t input_length;
  size_t input_capacity;
  request_t request;       // the one that waits for the timer
  struct connection *next; // in the list of all
  struct connection *previous;
} connection_t;

static connection_t *connections;
static socket_t listeners[LISTENERS_AT_MOST];
static uv_signal_t terminate;
static char read_buffer[BUFFER_SIZE]; // for the read of the moment

static void *must(void *memory) {
  if (memory == NULL)
    abort();
  return memory;
}

// --- numbers ---

// Digits, with decimals where they are allowed, and nothing else.
static bool parse_number(const char *text, size_t length, double *number) {
  char copy[32], *end;
  if (length == 0 || length >= sizeof copy || !isdigit((unsigned char)*text))
    return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  if (strspn(copy, "0123456789.") != length)
    return false;
  *number = strtod(copy, &end);
  return *end == '\0';
}

static bool parse_whole(const char *text, size_t length, uint64_t *number) {
  *number = 0;
  for (size_t i = 0; i < length; i++) {
    if (!isdigit((unsigned char)text[i]) || *number > (UINT64_MAX - 9) / 10)
      return false;
    *number = *number * 10 + (uint64_t)(text[i] - '0');
  }
  return length > 0;
}

// libuv counts in whole milliseconds: rather a little more than too few.
static uint64_t round_up(double milliseconds) {
  uint64_t whole = (uint64_t)milliseconds;
  return whole + (milliseconds > (double)whole);
}

// Counts in a way that no optimiser may shorten.
static void count_to(uint64_t limit) {
  for (volatile uint64_t counter = 0; counter < limit;)
    counter = counter + 1;
}

// --- the life of a connection ---

static void on_closed(uv_handle_t *handle) {
  connection_t *connection = handle->data;
  if (--connection->open_handles > 0)
    return;
  free(connection->input);
  free(connection);
}

static void close_connection(connection_t *connection) {
  if (uv_is_closing(&connection->socket.handle))
    return;
  if (connection->previous != NULL)
    connection->previous->next = connection->next;
  else
    connections = connection->next;
  if (connection->next != NULL)
    connection->next->previous = connection->previous;
  uv_close(&connection->socket.handle, on_closed);
  uv_close((uv_handle_t *)&connection->timer, on_closed);
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *into) {
  (void)handle, (void)suggested;
  *into = uv_buf_init(read_buffer, sizeof read_buffer);
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *bytes);

// After every event: reads on, waits, or leaves.
static void settle(connection_t *connection) {
  uv_stream_t *stream = &connection->socket.stream;
  if (uv_is_closing(&connection->socket.handle))
    return;
  size_t unsent = uv_stream_get_write_queue_size(stream);
  if (connection->ending && unsent == 0)
    close_connection(connection);
  else if (connection->ending || connection->waiting ||
           (unsent > 0 && options.workload != DO_BROADCAST))
    uv_read_stop(stream);
  else
    uv_read_start(stream, on_allocate, on_read); // no matter if it does already
}

typedef struct {
  uv_write_t write;
  char bytes[];
} message_t;

static void on_written(uv_write_t *write, int status) {
  connection_t *connection = write->handle->data;
  free(write->data);
  if (status != 0)
    close_connection(connection);
  settle(connection);
}

// Sends at once what the socket takes; only the rest is copied and kept.
static void send_bytes(connection_t *connection, const char *bytes,
                       size_t length) {
  uv_stream_t *stream = &connection->socket.stream;
  if (uv_is_closing(&connection->socket.handle))
    return;
  uv_buf_t buffer = uv_buf_init((char *)bytes, (unsigned)length);
  int sent = uv_try_write(stream, &buffer, 1);
  if (sent < 0 && sent != UV_EAGAIN) {
    close_connection(connection);
    return;
  }
  size_t taken = sent > 0 ? (size_t)sent : 0;
  if (taken == length)
    return;
  size_t rest = length - taken;
  if (uv_stream_get_write_queue_size(stream) + rest > KEPT_AT_MOST) {
    close_connection(connection);
    return;
  }
  message_t *message = must(malloc(sizeof *message + rest));
  memcpy(message->bytes, bytes + taken, rest);
  message->write.data = message;
  buffer = uv_buf_init(message->bytes, (unsigned)rest);
  if (uv_write(&message->write, stream, &buffer, 1, on_written) != 0) {
    free(message);
    close_connection(connection);
  }
}

static void send_text(connection_t *connection, const char *text) {
  send_bytes(connection, text, strlen(text));
}

static void keep_input(connection_t *connection, const char *bytes,
                       size_t length) {
  size_t needed = connection->input_length + length;
  if (needed > connection->input_capacity) {
    connection->input_capacity = 2 * needed;
    connection->input = must(realloc(connection->input, 2 * needed));
  }
  memcpy(connection->input + connection->input_length, bytes, length);
  connection->input_length = needed;
}

static void drop_input(connection_t *connection, size_t length) {
  connection->input_length -= length;
  memmove(connection->input, connection->input + length,
          connection->input_length);
}

// --- broadcast ---

static void broadcast_lines(connection_t *sender, const char *bytes,
                            size_t length) {
  const char *last = memrchr(bytes, '\n', length);
  keep_input(sender, bytes, length);
  if (last != NULL) {
    size_t lines = sender->input_length - (size_t)(bytes + length - last - 1);
    for (connection_t *each = connections, *next; each != NULL; each = next) {
      next = each->next; // this one may have to leave
      send_bytes(each, sender->input, lines);
    }
    drop_input(sender, lines);
  }
  if (sender->input_length > KEPT_AT_MOST)
    close_connection(sender);
}

// --- http and oneshot ---

static void wait_for(connection_t *connection, uint64_t milliseconds);

static void answer(connection_t *connection, const request_t *request) {
  count_to(request->count);
  send_text(connection, request->keep_alive
                            ? "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                              "Content-Length: 2\r\n"
                              "Connection: keep-alive\r\n\r\nok"
                            : "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                              "Content-Length: 2\r\n"
                              "Connection: close\r\n\r\nok");
  if (!request->keep_alive)
    connection->ending = true;
}

static void refuse_request(connection_t *connection) {
  send_text(connection, "HTTP/1.1 400 Bad Request\r\n"
                        "Content-Length: 0\r\nConnection: close\r\n\r\n");
  connection->ending = true;
}

static bool parse_query(const char *query, const char *end,
                        request_t *request) {
  while (query < end) {
    const char *stop = memchr(query, '&', (size_t)(end - query));
    size_t length = (size_t)((stop != NULL ? stop : end) - query);
    double delay;
    if (length >= 6 && memcmp(query, "delay=", 6) == 0) {
      if (!parse_number(query + 6, length - 6, &delay))
        return false;
      request->delay_ms = round_up(delay);
    } else if (length >= 6 && memcmp(query, "count=", 6) == 0) {
      if (!parse_whole(query + 6, length - 6, &request->count))
        return false;
    }
    query += length + 1;
  }
  return true;
}

// GET, a target and a version, with one space between them.
static bool parse_request_line(const char *line, size_t length,
                               request_t *request) {
  const char *end = line + length;
  if (length < 4 || memcmp(line, "GET ", 4) != 0)
    return false;
  const char *target = line + 4;
  const char *space = memchr(target, ' ', (size_t)(end - target));
  if (space == NULL || space == target || end - space != 9)
    return false;
  if (memcmp(space, " HTTP/1.1", 9) != 0 && memcmp(space, " HTTP/1.0", 9) != 0)
    return false;
  request->keep_alive = end[-1] == '1';
  const char *mark = memchr(target, '?', (size_t)(space - target));
  return mark == NULL || parse_query(mark + 1, space, request);
}

static bool parse_header(const char *line, size_t length, request_t *request) {
  static const char name[] = "Connection";
  const char *colon = memchr(line, ':', length);
  if (colon == NULL || colon == line)
    return false;
  for (const char *c = line; c < colon; c++)
    if (!isgraph((unsigned char)*c))
      return false;
  if ((size_t)(colon - line) != strlen(name) ||
      strncasecmp(line, name, strlen(name)) != 0)
    return true;

  const char *option = colon + 1, *end = line + length;
  while (option < end) {
    while (option < end && strchr(" \t,", *option) != NULL)
      option++;
    size_t size = 0;
    while (option + size < end && strchr(" \t,", option[size]) == NULL)
      size++;
    if (size == 5 && strncasecmp(option, "close", size) == 0)
      request->keep_alive = false;
    else if (size == 10 && strncasecmp(option, "keep-alive", size) == 0)
      request->keep_alive = true;
    option += size;
  }
  return true;
}

// The length of the request at the beginning of the text; 0 where it has not
// wholly come, and -1 where it is none.
static ssize_t parse_request(const char *text, size_t length,
                             request_t *request) {
  *request = (request_t){.delay_ms = round_up(options.delay_ms)};
  bool first = true;
  for (const char *line = text;; first = false) {
    const char *newline = memchr(line, '\n', length - (size_t)(line - text));
    if (newline == NULL || newline - text > HEAD_AT_MOST)
      return length > HEAD_AT_MOST ? -1 : 0;
    size_t line_length = (size_t)(newline - line);
    if (line_length > 0 && newline[-1] == '\r')
      line_length--;
    if (line_length == 0 && !first)
      return newline + 1 - text;
    if (!(first ? parse_request_line(line, line_length, request)
                : parse_header(line, line_length, request)))
      return -1;
    line = newline + 1;
  }
}

// Answers what has wholly come, until one of the requests has to wait.
static void answer_requests(connection_t *connection) {
  size_t done = 0;
  while (!connection->ending && !connection->waiting) {
    request_t request;
    ssize_t length = parse_request(connection->input + done,
                                   connection->input_length - done, &request);
    if (length == 0)
      break;
    if (length < 0) {
      refuse_request(connection);
      break;
    }
    done += (size_t)length;
    connection->request = request;
    if (request.delay_ms > 0)
      wait_for(connection, request.delay_ms);
    else
      answer(connection, &request);
  }
  drop_input(connection, done);
}

static void on_timer(uv_timer_t *timer) {
  connection_t *connection = timer->data;
  connection->waiting = false;
  if (options.workload == DO_ONESHOT) {
    send_text(connection, "HTTP/1.1 200 OK\r\n\r\nok\r\n");
    connection->ending = true;
  } else {
    answer(connection, &connection->request);
    answer_requests(connection);
  }
  settle(connection);
}

static void wait_for(connection_t *connection, uint64_t milliseconds) {
  connection->waiting = true;
  uv_update_time(connection->timer.loop); // time has passed since it woke up
  uv_timer_start(&connection->timer, on_timer, milliseconds, 0);
}

// --- events ---

static void on_read(uv_stream_t *stream, ssize_t length,
                    const uv_buf_t *bytes) {
  connection_t *connection = stream->data;
  if (length == UV_EOF && options.workload != DO_BROADCAST) {
    connection->ending = true;
  } else if (length < 0) {
    close_connection(connection);
  } else if (length > 0) {
    switch (options.workload) {
    case DO_ECHO:
      send_bytes(connection, bytes->base, (size_t)length);
      break;
    case DO_BROADCAST:
      broadcast_lines(connection, bytes->base, (size_t)length);
      break;
    case DO_HTTP:
      keep_input(connection, bytes->base, (size_t)length);
      answer_requests(connection);
      break;
    case DO_ONESHOT:
      wait_for(connection, round_up(options.delay_ms));
      break;
    }
  }
  settle(connection);
}

static void init_socket(uv_loop_t *loop, socket_t *socket, bool is_pipe) {
  if (is_pipe)
    uv_pipe_init(loop, &socket->pipe, 0);
  else
    uv_tcp_init(loop, &socket->tcp);
}

static void on_connection(uv_stream_t *listener, int status) {
  if (status != 0)
    return;
  bool is_pipe = listener->type == UV_NAMED_PIPE;
  connection_t *connection = must(calloc(1, sizeof *connection));
  init_socket(listener->loop, &connection->socket, is_pipe);
  uv_timer_init(listener->loop, &connection->timer);
  connection->open_handles = 2;
  connection->socket.handle.data = connection->timer.data = connection;
  connection->next = connections;
  if (connections != NULL)
    connections->previous = connection;
  connections = connection;

  if (uv_accept(listener, &connection->socket.stream) != 0) {
    close_connection(connection);
    return;
  }
  if (!is_pipe)
    uv_tcp_nodelay(&connection->socket.tcp, 1);
  if (options.workload == DO_BROADCAST)
    send_text(connection, "connected\n");
  settle(connection);
}

// Closing removes the path of a Unix socket; then nothing is left to run for.
static void on_terminate(uv_signal_t *signal, int number) {
  (void)number;
  for (int i = 0; i < options.listeners; i++)
    uv_close(&listeners[i].handle, NULL);
  uv_stop(signal->loop);
}

// --- the beginning ---

static void refuse(const char *flag, const char *value) {
  fprintf(stderr, "%s: '%s' is no value for it\n", flag, value);
  exit(2);
}

static void check(int status, const char *what) {
  if (status == 0)
    return;
  fprintf(stderr, "%s: %s\n", what, uv_strerror(status));
  exit(1);
}

static const char *unix_path(const char *address) {
  return strncmp(address, "unix:", 5) == 0 && address[5] ? address + 5 : NULL;
}

static bool parse_address(const char *text, struct sockaddr_storage *address) {
  char host[64];
  const char *colon = strrchr(text, ':');
  uint64_t port;
  if (colon == NULL || colon - text >= (ptrdiff_t)sizeof host ||
      !parse_whole(colon + 1, strlen(colon + 1), &port) || port > 65535)
    return false;
  bool in_brackets = text[0] == '[' && colon[-1] == ']';
  size_t length = (size_t)(colon - text) - (in_brackets ? 2 : 0);
  memcpy(host, text + (in_brackets ? 1 : 0), length);
  host[length] = '\0';
  if (in_brackets)
    return uv_ip6_addr(host, (int)port, (struct sockaddr_in6 *)address) == 0;
  return uv_ip4_addr(host, (int)port, (struct sockaddr_in *)address) == 0;
}

static void parse_options(int count, char **words) {
  static const char *const names[] = {"echo", "broadcast", "http", "oneshot"};
  const char *workload = NULL;
  for (int i = 1; i < count; i += 2) {
    const char *flag = words[i], *value = i + 1 < count ? words[i + 1] : "";
    if (strcmp(flag, "--listen") == 0) {
      struct sockaddr_storage address;
      if (options.listeners == LISTENERS_AT_MOST ||
          (!unix_path(value) && !parse_address(value, &address)))
        refuse(flag, value);
      options.listen[options.listeners++] = value;
    } else if (strcmp(flag, "--workload") == 0) {
      workload = NULL;
      for (int name = 0; name < 4; name++) {
        if (strcmp(value, names[name]) == 0) {
          workload = names[name];
          options.workload = (workload_t)name;
        }
      }
      if (workload == NULL)
        refuse(flag, value);
    } else if (strcmp(flag, "--backlog") == 0) {
      uint64_t backlog;
      if (!parse_whole(value, strlen(value), &backlog) || backlog > INT32_MAX)
        refuse(flag, value);
      options.backlog = (int)backlog;
    } else if (strcmp(flag, "--delay-ms") == 0) {
      if (!parse_number(value, strlen(value), &options.delay_ms))
        refuse(flag, value);
    } else {
      fprintf(stderr, "%s: there is no such flag\n", flag);
      exit(2);
    }
  }
  if (options.listeners == 0 || workload == NULL) {
    fprintf(stderr, "--listen and --workload must be given\n");
    exit(2);
  }
}

static void start_listener(uv_loop_t *loop, socket_t *listener,
                           const char *text) {
  const char *path = unix_path(text);
  init_socket(loop, listener, path != NULL);
  if (path != NULL) {
    check(uv_pipe_bind(&listener->pipe, path), text);
  } else {
    struct sockaddr_storage address;
    parse_address(text, &address);
    check(uv_tcp_bind(&listener->tcp, (struct sockaddr *)&address, 0), text);
  }
  check(uv_listen(&listener->stream, options.backlog, on_connection), text);
}

static void announce(const socket_t *listener, const char *text) {
  if (unix_path(text) != NULL) {
    printf("ready %s\n", text);
    return;
  }
  struct sockaddr_storage bound;
  int length = sizeof bound;
  char host[64];
  check(uv_tcp_getsockname(&listener->tcp, (struct sockaddr *)&bound, &length),
        text);
  uv_ip_name((struct sockaddr *)&bound, host, sizeof host);
  bool is_ip6 = bound.ss_family == AF_INET6;
  uint16_t port = is_ip6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                         : ((struct sockaddr_in *)&bound)->sin_port;
  printf(is_ip6 ? "ready [%s]:%d\n" : "ready %s:%d\n", host, ntohs(port));
}

int main(int argc, char **argv) {
  parse_options(argc, argv);
  uv_loop_t *loop = uv_default_loop();
  for (int i = 0; i < options.listeners; i++)
    start_listener(loop, &listeners[i], options.listen[i]);
  check(uv_signal_init(loop, &terminate), "signals");
  check(uv_signal_start(&terminate, on_terminate, SIGTERM), "signals");
  for (int i = 0; i < options.listeners; i++)
    announce(&listeners[i], options.listen[i]);
  fflush(stdout);
  uv_run(loop, UV_RUN_DEFAULT);
  return 0;
}
