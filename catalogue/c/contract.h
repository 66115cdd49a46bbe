// What a server in C has to understand whoever waits for whom: the flags of
// catalogue/CONTRACT.md, the requests of HTTP, and frames of JSON. Nothing here
// reads a socket.
#pragma once

#include <arpa/inet.h>
#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

enum {
  LISTENERS_AT_MOST = 64,
  HEAD_AT_MOST = 16 * 1024,
  FRAME_AT_MOST = 64 * 1024,
  FRAME_PREFIX = 4, // bytes of a frame's length
};

typedef enum {
  DO_ECHO,
  DO_BROADCAST,
  DO_HTTP,
  DO_ONESHOT,
  DO_FRAMED
} workload_t;

static struct {
  workload_t workload;
  int backlog;
  double delay_ms;
  const char *listen[LISTENERS_AT_MOST];
  int listeners;
} options = {.backlog = 1024};

// --- numbers ---

// Milliseconds, with decimals, and no more than a day of them.
static bool parse_delay(const char *text, size_t length, double *delay) {
  char copy[32], *end;
  if (length == 0 || length >= sizeof copy || !isdigit((unsigned char)*text))
    return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  if (strspn(copy, "0123456789.") != length)
    return false;
  *delay = strtod(copy, &end);
  return *end == '\0' && *delay <= 24 * 60 * 60 * 1000.0;
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

// Counts in a way that no optimiser may shorten.
static void count_to(uint64_t limit) {
  for (volatile uint64_t counter = 0; counter < limit;)
    counter = counter + 1;
}

// --- flags ---

static void refuse(const char *flag, const char *value) {
  fprintf(stderr, "%s: '%s' is no value for it\n", flag, value);
  exit(2);
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
  if (in_brackets) {
    struct sockaddr_in6 *ip6 = (struct sockaddr_in6 *)address;
    *ip6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
                                 .sin6_port = htons((uint16_t)port)};
    return inet_pton(AF_INET6, host, &ip6->sin6_addr) == 1;
  }
  struct sockaddr_in *ip4 = (struct sockaddr_in *)address;
  *ip4 = (struct sockaddr_in){.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port)};
  return inet_pton(AF_INET, host, &ip4->sin_addr) == 1;
}

static void parse_options(int count, char **words) {
  static const char *const names[] = {"echo", "broadcast", "http", "oneshot",
                                      "framed"};
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
      for (size_t name = 0; name < sizeof names / sizeof *names; name++) {
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
      if (!parse_delay(value, strlen(value), &options.delay_ms))
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

// --- requests ---

typedef struct {
  double delay_ms;
  uint64_t count;
  bool keep_alive;
} request_t;

static bool parse_query(const char *query, const char *end,
                        request_t *request) {
  while (query < end) {
    const char *stop = memchr(query, '&', (size_t)(end - query));
    size_t length = (size_t)((stop != NULL ? stop : end) - query);
    double delay;
    if (length >= 6 && memcmp(query, "delay=", 6) == 0) {
      if (!parse_delay(query + 6, length - 6, &delay))
        return false;
      request->delay_ms = delay;
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
  *request = (request_t){.delay_ms = options.delay_ms};
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

// --- frames ---

// The length of the frame at the beginning of the text, with its prefix; 0
// where it has not wholly come, and -1 where it is too long.
static ssize_t frame_length(const char *text, size_t length) {
  uint32_t size;
  if (length < FRAME_PREFIX)
    return 0;
  memcpy(&size, text, FRAME_PREFIX);
  size = ntohl(size);
  if (size > FRAME_AT_MOST)
    return -1;
  return length < FRAME_PREFIX + size ? 0 : (ssize_t)(FRAME_PREFIX + size);
}

// Whether it is an object with a whole count from 0, or none.
static bool parse_count(const char *json, size_t length, uint64_t *count) {
  json_t *request = json_loadb(json, length, JSON_ALLOW_NUL, NULL);
  json_t *found = json_object_get(request, "count");
  bool is_whole = json_is_integer(found) && json_integer_value(found) >= 0;
  bool is_request = json_is_object(request) && (found == NULL || is_whole);
  *count = is_whole ? (uint64_t)json_integer_value(found) : 0;
  json_decref(request);
  return is_request;
}

// Writes a reply, and says how many bytes it has.
static size_t write_frame(char *into, size_t room, int code,
                          const char *msg) {
  json_t *reply = json_pack("{s:i, s:s}", "code", code, "msg", msg);
  size_t size = json_dumpb(reply, into + FRAME_PREFIX, room - FRAME_PREFIX,
                           JSON_COMPACT);
  json_decref(reply);
  if (size == 0 || size > room - FRAME_PREFIX)
    abort(); // no memory, or a msg that the caller has no room for
  uint32_t prefix = htonl((uint32_t)size);
  memcpy(into, &prefix, FRAME_PREFIX);
  return FRAME_PREFIX + size;
}
