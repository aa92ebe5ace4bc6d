// BullMQ without knowing it: 10,000 jobs, delays, retries, repeats, flows, priorities, a rate limit, and nothing lost. usage: bullmq.js PORT
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

async function many() {
  const queue = opened(new Queue('many', { connection }));
  const events = opened(new QueueEvents('many', { connection }));
  const told = new Set();
  events.on('completed', ({ jobId }) => told.add(jobId));
  await events.waitUntilReady();
  for (let n = 0; n < 10000; n += 1000) {
    await queue.addBulk(Array.from({ length: 1000 }, (_, i) => ({ name: 'square', data: { n: n + i } })));
  }
  const runs = new Map();
  const handler = async (job) => { runs.set(job.id, (runs.get(job.id) || 0) + 1); return job.data.n ** 2; };
  const { seen } = await work('many', handler, (s) => s.length === 10000, { concurrency: 100 });
  check(runs.size === 10000 && [...runs.values()].every((n) => n === 1), 'each job ran once');
  check(seen.every(({ job, result }) => result === job.data.n ** 2), 'results');
  const counts = await queue.getJobCounts();
  check(counts.completed === 10000 && counts.waiting + counts.active + counts.failed === 0, `counts ${JSON.stringify(counts)}`);
  const stored = await queue.getJobs(['completed'], 0, 9999);
  check(new Set(stored.map((j) => j.id)).size === 10000, 'all are kept');
  for (let i = 0; told.size < 10000 && i < 200; i += 1) await new Promise((r) => setTimeout(r, 50));
  // The stream of events is cut to about 10,000 entries: the last ones must have come.
  check(told.has(seen[9999].job.id), 'the stream of events told the last one');
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
});
