// BullMQ without knowing it: a queue of 10,000 jobs with delays, retries, repeats, flows, priorities and a rate limit, and
// nothing lost; then each of these by itself. usage: bullmq.js PORT
'use strict';
const { Queue, Worker, QueueEvents, FlowProducer } = require('bullmq');
const { check, report } = require('./library.js');

const connection = { host: '127.0.0.1', port: Number(process.argv[2]), maxRetriesPerRequest: null };
const closers = [];
const opened = (thing) => { closers.unshift(thing); thing.on('error', (error) => { throw error; }); return thing; };

// A worker that ends the promise once `done(seen)` says so.
function work(name, handler, done, options = {}) {
  return new Promise((resolve, reject) => {
    const seen = [];
    const worker = opened(new Worker(name, handler, { connection, ...options }));
    worker.on('completed', (job, result) => { seen.push({ job, result }); if (done(seen)) resolve({ worker, seen }); });
    worker.on('failed', (job, error) => { if (job && job.attemptsMade >= (job.opts.attempts || 1) && !options.mayFail) reject(error); });
  });
}

// Ten thousand jobs of one queue under one rate limit: plain ones, delayed ones, such as fail at first, such as come before
// others, flows of a parent with nine children; a scheduler ticks meanwhile. Each is counted when it runs and when it is done.
const LIMIT = { max: 500, duration: 50 };

function kind(n) {
  switch (n % 10) {
    case 1: return { delay: 100 + (n % 900) };
    case 2: return { attempts: 3, backoff: { type: 'fixed', delay: 20 } };
    case 3: return { priority: 1 + (n % 7) };
    default: return {};
  }
}

async function fill(queue) {
  for (let n = 0; n < 9000; n += 1000) {
    await queue.addBulk(Array.from({ length: 1000 }, (_, i) => ({ name: 'square', data: { n: n + i }, opts: kind(n + i) })));
  }
  const flow = opened(new FlowProducer({ connection }));
  const leaf = (n) => ({ name: 'square', queueName: 'many', data: { n } });
  for (let at = 0; at < 100; at += 25) {
    await flow.addBulk(Array.from({ length: 25 }, (_, i) => (
      { name: 'sum', queueName: 'many', data: { at: at + i }, children: Array.from({ length: 9 }, (_, c) => leaf(10000 + 10 * (at + i) + c)) })));
  }
}

async function many() {
  const queue = opened(new Queue('many', { connection }));
  const events = opened(new QueueEvents('many', { connection }));
  const told = new Set();
  events.on('completed', ({ jobId }) => told.add(jobId));
  await events.waitUntilReady();
  await fill(queue);
  await queue.upsertJobScheduler('tick', { every: 100 }, { name: 'tick' });
  const [runs, early] = [new Map(), []];
  const handler = async (job) => {
    if (job.name === 'tick') return 'tick';
    runs.set(job.id, (runs.get(job.id) || 0) + 1);
    if (Date.now() < job.timestamp + (job.opts.delay || 0)) early.push(job.id);
    if (job.name === 'sum') return Object.values(await job.getChildrenValues()).reduce((a, b) => a + b, 0);
    if (job.opts.attempts && job.attemptsMade === 0) throw new Error('at first');
    return job.data.n ** 2;
  };
  const began = Date.now();
  let [own, ticks] = [0, 0];
  const all = (seen) => {
    if (seen[seen.length - 1].job.name === 'tick') ticks += 1; else own += 1;
    return own === 10000 && ticks >= 3;
  };
  const { worker, seen } = await work('many', handler, all, { concurrency: 100, limiter: LIMIT });
  const took = Date.now() - began;
  check(await queue.removeJobScheduler('tick'), 'the scheduler is removed');
  await worker.close();
  const done = seen.filter(({ job }) => job.name !== 'tick');
  check(done.length === 10000 && new Set(done.map(({ job }) => job.id)).size === 10000, `ten thousand jobs, each done once: ${done.length}`);
  check(runs.size === 10000 && done.every(({ job }) => runs.get(job.id) === (job.opts.attempts ? 2 : 1)), 'each ran once, and twice what failed at first');
  check([...runs.values()].reduce((a, b) => a + b, 0) === 10900, 'nine hundred failed at first');
  check(early.length === 0, `none before its time: ${early.length}`);
  const sum = (at) => Array.from({ length: 9 }, (_, c) => (10000 + 10 * at + c) ** 2).reduce((a, b) => a + b, 0);
  const right = ({ job, result }) => result === (job.name === 'sum' ? sum(job.data.at) : job.data.n ** 2);
  check(done.every(right) && done.filter(({ job }) => job.name === 'sum').length === 100, 'results, and parents have the values of their children');
  const windows = Math.floor(10900 / LIMIT.max) - 1;
  check(took >= windows * LIMIT.duration, `${took} ms for ${windows} windows`);
  const counts = await queue.getJobCounts();
  const left = ['wait', 'waiting', 'active', 'failed', 'delayed', 'prioritized', 'paused', 'waiting-children'].reduce((n, state) => n + (counts[state] || 0), 0);
  check(left === 0 && counts.completed >= 10000 + ticks, `counts ${JSON.stringify(counts)}`);
  const stored = await queue.getJobs(['completed'], 0, -1);
  check(stored.filter((job) => job.name !== 'tick' && runs.has(job.id)).length === 10000, 'all are kept');
  // The stream of events is cut to about 10,000 entries: the last ones must have come.
  const last = done[9999].job.id;
  for (let i = 0; !told.has(last) && i < 200; i += 1) await new Promise((r) => setTimeout(r, 50));
  check(told.has(last), 'the stream of events told the last one');
  await queue.obliterate({ force: true });
  check((await queue.getJobCountByTypes('completed')) === 0, 'obliterate');
}

async function delays() {
  const queue = opened(new Queue('delays', { connection }));
  const added = Date.now();
  // In one go, so that all count from the same moment.
  await queue.addBulk([300, 100, 200].map((delay) => ({ name: 'later', data: { delay }, opts: { delay } })));
  check((await queue.getDelayedCount()) === 3, 'three wait');
  const { seen } = await work('delays', async () => Date.now() - added, (s) => s.length === 3);
  check(seen.map(({ job }) => job.data.delay).join() === '100,200,300', 'in order of their delay');
  check(seen.every(({ job, result }) => result >= job.data.delay), 'none before its time');
}

async function retries() {
  const queue = opened(new Queue('retries', { connection }));
  await queue.add('third', {}, { attempts: 3, backoff: { type: 'exponential', delay: 20 } });
  const handler = async (job) => { if (job.attemptsMade < 2) throw new Error('not yet'); return job.attemptsMade; };
  const { seen } = await work('retries', handler, (s) => s.length === 1);
  check(seen[0].result === 2, 'ran at the third attempt');
  const failing = opened(new Queue('failing', { connection }));
  const job = await failing.add('never', {}, { attempts: 2 });
  await new Promise((resolve) => {
    const worker = opened(new Worker('failing', async () => { throw new Error('no'); }, { connection }));
    worker.on('failed', (j) => { if (j.attemptsMade === 2) resolve(); });
  });
  const failed = await failing.getJob(job.id);
  check((await failed.getState()) === 'failed' && failed.failedReason === 'no' && failed.stacktrace.length === 2, 'it failed twice');
}

async function repeats() {
  const queue = opened(new Queue('repeats', { connection }));
  await queue.upsertJobScheduler('tick', { every: 50 }, { name: 'tick', data: { of: 'clock' } });
  const { worker, seen } = await work('repeats', async () => 1, (s) => s.length === 4);
  check(seen.every(({ job }) => job.data.of === 'clock'), 'repeated with its data');
  check((await queue.getJobSchedulers()).length === 1, 'one scheduler');
  check(await queue.removeJobScheduler('tick'), 'removed');
  await worker.close();
}

async function flows() {
  const flow = opened(new FlowProducer({ connection }));
  const children = Array.from({ length: 5 }, (_, n) => ({ name: 'leaf', queueName: 'leaves', data: { n } }));
  const tree = await flow.add({ name: 'root', queueName: 'roots', data: {}, children });
  check((await tree.job.getState()) === 'waiting-children', 'the parent waits');
  const leaves = work('leaves', async (job) => job.data.n + 1, (s) => s.length === 5);
  const roots = work('roots', async (job) => Object.values(await job.getChildrenValues()).reduce((a, b) => a + b, 0), (s) => s.length === 1);
  await leaves;
  check((await roots).seen[0].result === 15, 'the parent has the values of its children');
}

async function limits() {
  const queue = opened(new Queue('limits', { connection }));
  await queue.addBulk(Array.from({ length: 30 }, (_, n) => ({ name: 'slow', data: { n } })));
  const began = Date.now();
  await work('limits', async () => 1, (s) => s.length === 30, { limiter: { max: 10, duration: 150 }, concurrency: 30 });
  check(Date.now() - began >= 300, 'thirty jobs, ten in 150 ms');
}

async function priorities() {
  const queue = opened(new Queue('priorities', { connection }));
  await queue.pause();
  for (const priority of [5, 1, 3]) await queue.add('p', { priority }, { priority });
  await queue.add('p', { priority: 0 });
  const once = await queue.add('p', { priority: 9 }, { priority: 9, jobId: 'once' });
  const twice = await queue.add('p', { priority: 9 }, { priority: 9, jobId: 'once' });
  check(once.id === twice.id, 'one job of one name');
  await queue.resume();
  const { seen } = await work('priorities', async () => 1, (s) => s.length === 5);
  check(seen.map(({ job }) => job.data.priority).join() === '0,1,3,5,9', 'in order of priority');
}

report(async () => {
  await many();
  await Promise.all([delays(), retries(), repeats(), flows(), limits(), priorities()]);
  for (const thing of closers) await thing.close();
}, 110000);
