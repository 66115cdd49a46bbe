// Several processes of Node with an event loop each, by `node:cluster`. The primary listens, accepts, and hands the
// connections to its workers in turn. A worker runs the program of `node/net` as it is: there, `listen` asks the
// primary.
//
// Left out on purpose: `broadcast`, for which the workers would have to talk to each other; a new worker for one that
// died.

import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { fail, leaveOnSignal, parseCount, readOptions, sayReady } from '../contract.mjs';

const options = readOptions(['echo', 'http', 'oneshot', 'framed'], { workers: (word) => parseCount(word) || undefined });
const workers = options.workers ?? availableParallelism();

function argumentsOfWorker() {
  const words = process.argv.slice(2);
  const place = words.findIndex((word) => word.startsWith('--workers'));
  if (place >= 0) words.splice(place, words[place].includes('=') ? 1 : 2);
  return words;
}

// What the first worker has bound is what all of them have: a port of 0 is the same one for each.
const bound = [];
let awaited = workers * options.listen.length;

cluster.on('listening', (worker, { address, port, addressType }) => {
  if (worker.id === 1) bound.push(addressType === -1 ? address : { address, port });
  awaited -= 1;
  if (awaited > 0) return;
  console.log(`workers ${workers}`);
  bound.forEach(sayReady);
});

cluster.on('exit', (worker, status) => {
  fail(`worker ${worker.id} has ended with status ${status}`);
});

leaveOnSignal(options.listen);
// Silent, since each worker too would say that it is ready; what the first has to complain about is passed on.
cluster.setupPrimary({ exec: '../net/server.mjs', args: argumentsOfWorker(), silent: true });
for (let started = 0; started < workers; started++) cluster.fork();
cluster.workers[1].process.stderr.pipe(process.stderr);
