// A server on libuv: one loop in one thread, which reads and writes on behalf
// of all connections and calls back here when something has come or has gone
// out. A connection that has output waiting is not read from, so that what is
// kept for it stays small; only a broadcast goes on, and closes who is too far
// behind. Left out on purpose: giving way when memory or descriptors run out.
#define _GNU_SOURCE // memrchr
#include "../contract.h"

#include <uv.h>

enum {
  KEPT_AT_MOST = 1024 * 1024, // bytes for who listens to a broadcast
  BUFFER_SIZE = 64 * 1024,
  DROPPED_AT_MOST = 1024 * 1024, // bytes of who was refused
  LINGERS_AT_MOST = 1000,        // milliseconds
};

typedef union { // what a listener and a connection may be, as one stream
  uv_handle_t handle;
  uv_stream_t stream;
  uv_tcp_t tcp;
  uv_pipe_t pipe;
} socket_t;

typedef struct connection {
  socket_t socket;
  uv_timer_t timer;
  uv_idle_t turn;   // runs once in each turn of the loop
  int open_handles; // the memory is given back after the last one
  bool waiting;     // for one of these; nothing is read meanwhile
  bool refused;     // what still comes is dropped
  size_t dropped;
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
  uv_close((uv_handle_t *)&connection->turn, on_closed);
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

static void answer_frames(connection_t *connection);

static void on_written(uv_write_t *write, int status) {
  connection_t *connection = write->handle->data;
  free(write->data);
  if (status != 0)
    close_connection(connection);
  else if (options.workload == DO_FRAMED)
    answer_frames(connection);
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

// --- refusals ---

static void on_timer(uv_timer_t *timer);

static void on_shut_down(uv_shutdown_t *shutdown, int status) {
  connection_t *connection = shutdown->handle->data;
  free(shutdown);
  if (status == 0)
    uv_timer_start(&connection->timer, on_timer, LINGERS_AT_MOST, 0);
  else
    close_connection(connection);
}

// Leaves so that the client can read why. A socket that is closed with unread
// input resets its connection, and a reset destroys what the client has not
// read yet: so only the output ends, and what still comes is dropped, within
// bounds, until the client ends its own.
static void linger(connection_t *connection) {
  connection->refused = true;
  uv_shutdown_t *shutdown = must(malloc(sizeof *shutdown));
  if (uv_shutdown(shutdown, &connection->socket.stream, on_shut_down) != 0) {
    free(shutdown);
    close_connection(connection);
  }
}

static void drop(connection_t *connection, size_t length) {
  connection->dropped += length;
  if (connection->dropped >= DROPPED_AT_MOST)
    close_connection(connection);
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

static void wait_for(connection_t *connection, double milliseconds);

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
  linger(connection);
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
  if (connection->refused) {
    close_connection(connection);
  } else if (options.workload == DO_ONESHOT) {
    send_text(connection, "HTTP/1.1 200 OK\r\n\r\nok\r\n");
    connection->ending = true;
  } else {
    answer(connection, &connection->request);
    answer_requests(connection);
  }
  settle(connection);
}

// libuv counts in whole milliseconds: rather a little more than too few.
static uint64_t round_up(double milliseconds) {
  uint64_t whole = (uint64_t)milliseconds;
  return whole + (milliseconds > (double)whole);
}

static void wait_for(connection_t *connection, double milliseconds) {
  connection->waiting = true;
  uv_update_time(connection->timer.loop); // time has passed since it woke up
  uv_timer_start(&connection->timer, on_timer, round_up(milliseconds), 0);
}

// --- framed ---

static void send_frame(connection_t *connection, int code, const char *msg) {
  char bytes[128];
  send_bytes(connection, bytes, write_frame(bytes, sizeof bytes, code, msg));
}

static void on_turn(uv_idle_t *turn) {
  connection_t *connection = turn->data;
  uv_idle_stop(turn);
  connection->waiting = false;
  answer_frames(connection);
  settle(connection);
}

// Answers the frames that have wholly come, as long as the client reads. After
// one that was counted for it is the others' turn.
static void answer_frames(connection_t *connection) {
  const uv_stream_t *stream = &connection->socket.stream;
  size_t done = 0;
  while (!connection->refused && !connection->waiting &&
         !uv_is_closing(&connection->socket.handle) &&
         uv_stream_get_write_queue_size(stream) == 0) {
    const char *frame = connection->input + done;
    ssize_t length = frame_length(frame, connection->input_length - done);
    uint64_t count;
    if (length == 0)
      break;
    if (length < 0) {
      send_frame(connection, 400, "the frame is too long");
      linger(connection);
      break;
    }
    done += (size_t)length;
    if (!parse_count(frame + FRAME_PREFIX, (size_t)length - FRAME_PREFIX,
                     &count)) {
      send_frame(connection, 400, "no object with a whole count");
      continue;
    }
    count_to(count);
    if (count > 0 && done < connection->input_length) {
      connection->waiting = true;
      uv_idle_start(&connection->turn, on_turn);
    }
    send_frame(connection, 200, "ok");
  }
  drop_input(connection, done);
}

// --- events ---

static void on_read(uv_stream_t *stream, ssize_t length,
                    const uv_buf_t *bytes) {
  connection_t *connection = stream->data;
  if (length == UV_EOF && options.workload != DO_BROADCAST) {
    connection->ending = true;
  } else if (length < 0) {
    close_connection(connection);
  } else if (connection->refused) {
    drop(connection, (size_t)length);
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
      wait_for(connection, options.delay_ms);
      break;
    case DO_FRAMED:
      keep_input(connection, bytes->base, (size_t)length);
      answer_frames(connection);
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
  uv_idle_init(listener->loop, &connection->turn);
  connection->open_handles = 3;
  connection->socket.handle.data = connection;
  connection->timer.data = connection->turn.data = connection;
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

static void check(int status, const char *what) {
  if (status == 0)
    return;
  fprintf(stderr, "%s: %s\n", what, uv_strerror(status));
  exit(1);
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
