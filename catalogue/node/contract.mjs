// What the Node servers beside this file have in common before the first connection: flags, listening, the `ready`
// lines and the end at SIGTERM.
//
// Left out on purpose: everything about connections and bytes. How those are served is what each server shows.

import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';

// Reads the command line; a server with flags of its own names them with what checks their values.
export function readOptions(workloads, ownFlags = {}) {
  const checks = {
    listen: parseAddress,
    workload: (name) => (workloads.includes(name) ? name : undefined),
    backlog: parseCount,
    'delay-ms': parseMilliseconds,
    ...ownFlags,
  };
  const given = { backlog: '1024', 'delay-ms': '0', ...parseWords(Object.keys(checks)) };
  const options = {};
  for (const [flag, words] of Object.entries(given)) {
    const values = [words].flat().map((word) => checks[flag](word) ?? refuse(`--${flag} cannot be '${word}'`));
    options[flag] = Array.isArray(words) ? values : values[0];
  }
  for (const flag of ['listen', 'workload']) options[flag] ?? refuse(`--${flag} is missing`);
  return options;
}

export function parseCount(word) {
  return /^\d{1,9}$/.test(word) ? Number(word) : undefined;
}

export function parseMilliseconds(word) {
  return /^\d{1,9}(\.\d+)?$/.test(word) ? Number(word) : undefined;
}

// Binds one server for each address, and says so when all of them are bound.
export async function listen(createServer, { listen: addresses, backlog }) {
  leaveOnSignal(addresses);
  const servers = [];
  for (const address of addresses) {
    const server = createServer().listen({ ...address, backlog });
    // `once` rejects when `error` comes first.
    await once(server, 'listening').catch((error) => fail(error.message));
    servers.push(server);
  }
  for (const server of servers) sayReady(server.address());
}

export function sayReady(bound) {
  if (typeof bound === 'string') console.log(`ready unix:${bound}`);
  else console.log(`ready ${bound.address.includes(':') ? `[${bound.address}]` : bound.address}:${bound.port}`);
}

export function leaveOnSignal(addresses) {
  const leave = () => {
    for (const { path } of addresses) if (path) rmSync(path, { force: true });
    process.exit(0);
  };
  process.on('SIGTERM', leave).on('SIGINT', leave);
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}

function parseAddress(word) {
  if (/^unix:./.test(word)) return { path: word.slice('unix:'.length) };
  const [, ipv6, host, port] = /^(?:\[([\da-f:.]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(word) ?? [];
  return Number(port) < 65536 ? { host: ipv6 ?? host, port: Number(port) } : undefined;
}

function parseWords(flags) {
  const options = Object.fromEntries(flags.map((flag) => [flag, { type: 'string', multiple: flag === 'listen' }]));
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error.message);
  }
}

function refuse(message) {
  console.error(message);
  process.exit(2);
}
