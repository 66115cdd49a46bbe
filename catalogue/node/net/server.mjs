// Node's own way: one thread, one event loop. libuv waits for all sockets by epoll, and a socket calls back with what
// came; what its peer does not take yet Node keeps, and `pipe` stops reading meanwhile. HTTP is by `node:http`.
//
// Left out on purpose: any use of more than one core (`node/cluster`).

import http from 'node:http';
import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { listen, parseCount, parseMilliseconds, readOptions } from '../contract.mjs';

const LINE_BYTES = 64 * 1024;
// What is kept for who does not read a broadcast; beyond that it is cut off.
const KEPT_BYTES = 1024 * 1024;
const FRAME_BYTES = 64 * 1024;
const PREFIX_BYTES = 4;
const MOST_COUNTED = 999_999_999;
const LINGER_MS = 1000;

function echo(socket) {
  socket.pipe(socket);
}

const everybody = new Set();

function broadcast(socket) {
  let unended = Buffer.alloc(0);
  everybody.add(socket);
  socket.on('close', () => everybody.delete(socket));
  socket.on('end', () => socket.end());
  socket.write('connected\n');
  socket.on('data', (chunk) => {
    unended = Buffer.concat([unended, chunk]);
    const end = unended.lastIndexOf('\n') + 1;
    if (end > 0) say(unended.subarray(0, end));
    unended = unended.subarray(end);
    if (unended.length > LINE_BYTES) socket.destroy();
  });
}

function say(lines) {
  for (const socket of everybody) {
    if (socket.writableLength > KEPT_BYTES) socket.destroy();
    else if (socket.writable) socket.write(lines);
  }
}

function oneshot(socket, delay) {
  let asked = false;
  socket.once('data', async () => {
    asked = true;
    await sleep(delay);
    socket.write('HTTP/1.1 200 OK\r\n\r\nok\r\n');
    socket.destroySoon();
  });
  socket.once('end', () => asked || socket.destroy());
}

function framed(socket) {
  let input = Buffer.alloc(0);
  socket.on('end', () => socket.end());
  socket.on('data', (chunk) => {
    input = Buffer.concat([input, chunk]);
    answerFrames();
  });

  // Neither `data` nor `end` comes while the socket is paused.
  function answerFrames() {
    while (input.length >= PREFIX_BYTES && !socket.destroyed) {
      const end = PREFIX_BYTES + input.readUInt32BE();
      if (end > PREFIX_BYTES + FRAME_BYTES) return reject(socket, 'the frame is too long');
      if (input.length < end) break;
      const count = countIn(input.subarray(PREFIX_BYTES, end));
      input = input.subarray(end);
      countTo(count ?? 0);
      const reply = count === undefined ? frameOf(400, 'that is no request') : frameOf(200, 'ok');
      if (!socket.write(reply)) {
        socket.pause().once('drain', answerFrames);
        return;
      }
      if (count > 0 && input.length > 0) {
        // The others have their turn first.
        socket.pause();
        setImmediate(answerFrames);
        return;
      }
    }
    socket.resume();
  }
}

function countIn(frame) {
  let request;
  try {
    request = JSON.parse(frame.toString());
  } catch {
    return undefined;
  }
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return undefined;
  const { count = 0 } = request;
  return Number.isInteger(count) && count >= 0 && count <= MOST_COUNTED ? count : undefined;
}

function frameOf(code, msg) {
  const json = Buffer.from(JSON.stringify({ code, msg }));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(json.length);
  return Buffer.concat([prefix, json]);
}

// What still comes is dropped, for a while: a socket that is closed with unread input resets its connection, and the
// reply might be lost by that.
function reject(socket, msg) {
  const enough = socket.bytesRead + KEPT_BYTES;
  socket.end(frameOf(400, msg));
  socket.removeAllListeners('data');
  socket.on('data', () => socket.bytesRead > enough && socket.destroy());
  socket.resume();
  sleep(LINGER_MS).then(() => socket.destroy());
}

async function answer(request, response, defaultDelay) {
  const query = new URLSearchParams(request.url.split('?')[1]);
  const delay = query.has('delay') ? parseMilliseconds(query.get('delay')) : defaultDelay;
  const count = query.has('count') ? parseCount(query.get('count')) : 0;
  if (delay === undefined || count === undefined) {
    response.writeHead(400, { Connection: 'close' }).end('bad request');
    return;
  }
  await sleep(delay);
  countTo(count);
  response.writeHead(200, { 'Content-Length': 2 }).end('ok');
}

function countTo(count) {
  let number = 0;
  while (number < count) number++;
  return number;
}

// Node's timers know whole milliseconds, and round down.
async function sleep(milliseconds) {
  if (milliseconds > 0) await wait(Math.ceil(milliseconds));
}

function createWebServer(delay) {
  // Who asks nothing for a while stays connected: by default Node closes it after five seconds.
  const patient = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0, noDelay: true };
  const server = http.createServer(patient, (request, response) => answer(request, response, delay));
  server.httpAllowHalfOpen = true;
  return server;
}

function createSocketServer(serve, delay) {
  return net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    // It was reset. Node destroys it by itself, but an error that nobody listens to would end the process.
    socket.on('error', () => {});
    serve(socket, delay);
  });
}

const workloads = { echo, broadcast, oneshot, framed, http: answer };
const options = readOptions(Object.keys(workloads));
const delay = options['delay-ms'];
await listen(
  () => (options.workload === 'http' ? createWebServer(delay) : createSocketServer(workloads[options.workload], delay)),
  options,
);
