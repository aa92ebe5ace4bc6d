// Locks, semaphores, limiters and sessions of npm. usage: limiters.js PORT
'use strict';
const http = require('http');
const Redis = require('ioredis');
const { createClient } = require('redis');
const { default: Redlock } = require('redlock');
const { Mutex, Semaphore, MultiSemaphore, RedlockMutex } = require('redis-semaphore');
const { RateLimiterRedis, RateLimiterQueue } = require('rate-limiter-flexible');
const session = require('express-session');
const { default: RedisStore } = require('connect-redis');
const { check, report } = require('./library.js');

const port = Number(process.argv[2]);
const client = new Redis({ host: '127.0.0.1', port });

async function limiter() {
  for (const insuranceFree of [{ storeClient: client }, { storeClient: await nodeRedis(), useRedisPackage: true }]) {
    const limits = new RateLimiterRedis({ ...insuranceFree, keyPrefix: `rl${Boolean(insuranceFree.useRedisPackage)}`, points: 5, duration: 30, blockDuration: 60 });
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => limits.consume('caller')));
    check(answers.filter((a) => a.status === 'fulfilled').length === 5, 'five of eight pass');
    const refused = answers.find((a) => a.status === 'rejected').reason;
    check(refused.msBeforeNext > 30000 && refused.remainingPoints === 0, `blocked for ${refused.msBeforeNext}`);
    check((await limits.get('caller')).consumedPoints >= 6, 'it counts on');
    check(await limits.delete('caller'), 'forgotten');
    check((await limits.consume('caller', 2)).remainingPoints === 3, 'two points at once');
    check((await limits.reward('caller', 1)).remainingPoints === 4, 'one given back');
  }
  const queue = new RateLimiterQueue(new RateLimiterRedis({ storeClient: client, keyPrefix: 'rlq', points: 2, duration: 1 }));
  const began = Date.now();
  await Promise.all([1, 2, 3].map(() => queue.removeTokens(1)));
  check(Date.now() - began >= 500, 'the third waited');
}

let shared;
async function nodeRedis() {
  if (!shared) {
    shared = createClient({ url: `redis://127.0.0.1:${port}` });
    await shared.connect();
  }
  return shared;
}

async function locks() {
  const redlock = new Redlock([client], { retryCount: 2, retryDelay: 20, retryJitter: 0 });
  let lock = await redlock.acquire(['lock:a', 'lock:b'], 5000);
  const other = await redlock.acquire(['lock:b'], 100).catch((error) => error);
  check(other instanceof Error, 'a second owner is refused');
  lock = await lock.extend(5000);
  check((await client.pttl('lock:a')) > 4000, 'extended');
  await lock.release();
  check((await client.exists('lock:a', 'lock:b')) === 0, 'released');
  let inside = 0;
  let most = 0;
  const patient = new Redlock([client], { retryCount: 200, retryDelay: 10 });
  await Promise.all(Array.from({ length: 10 }, () => patient.using(['lock:c'], 2000, async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((r) => setTimeout(r, 5));
    inside -= 1;
  })));
  check(most === 1, 'one at a time');
}

async function semaphores() {
  const mutex = new Mutex(client, 'm', { acquireTimeout: 50, retryInterval: 10 });
  await mutex.acquire();
  const second = await new Mutex(client, 'm', { acquireTimeout: 50, retryInterval: 10 }).acquire().catch((e) => e);
  check(second instanceof Error, 'the mutex is held');
  await mutex.release();
  const three = Array.from({ length: 3 }, () => new Semaphore(client, 's', 2, { acquireTimeout: 50, retryInterval: 10 }));
  const got = await Promise.allSettled(three.map((s) => s.acquire()));
  check(got.filter((g) => g.status === 'fulfilled').length === 2, 'two of three');
  await Promise.all(three.map((s) => s.release().catch(() => {})));
  const multi = new MultiSemaphore(client, 'ms', 3, 2, { acquireTimeout: 50, retryInterval: 10 });
  await multi.acquire();
  check((await client.zcard('semaphore:ms')) === 2, 'two permits');
  await multi.release();
  const quorum = new RedlockMutex([client], 'q', { acquireTimeout: 50, retryInterval: 10 });
  await quorum.acquire();
  await quorum.release();
  check((await client.exists('mutex:q')) === 0, 'the quorum is free');
}

async function sessions() {
  const store = new RedisStore({ client: await nodeRedis(), prefix: 'sess:', ttl: 60 });
  const handler = session({ store, secret: 'secret', resave: false, saveUninitialized: false });
  const server = http.createServer((req, res) => handler(req, res, () => {
    if (req.url === '/out') return req.session.destroy(() => res.end('out'));
    req.session.visits = (req.session.visits || 0) + 1;
    return res.end(String(req.session.visits));
  }));
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  const base = `http://127.0.0.1:${server.address().port}`;
  const first = await fetch(base);
  const cookie = first.headers.get('set-cookie').split(';')[0];
  check((await first.text()) === '1', 'a new session');
  check((await (await fetch(base, { headers: { cookie } })).text()) === '2', 'is found again');
  const [key] = await client.keys('sess:*');
  const ttl = await client.ttl(key);
  check(ttl > 0 && ttl <= 86400, 'and has an end');
  check((await new Promise((r, no) => store.all((e, all) => (e ? no(e) : r(all))))).length === 1, 'listed');
  await (await fetch(`${base}/out`, { headers: { cookie } })).text();
  check((await client.keys('sess:*')).length === 0, 'destroyed');
  server.close();
  server.closeAllConnections();
}

report(async () => {
  await client.flushall();
  for (const part of [limiter, locks, semaphores, sessions]) await part();
});
