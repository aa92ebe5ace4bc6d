// Bull and Bee-Queue, older job queues with scripts and blocking pops of their own. usage: queues.js PORT
'use strict';
const Bull = require('bull');
const Bee = require('bee-queue');
const { check, report } = require('./library.js');

const port = Number(process.argv[2]);

async function bull() {
  const queue = new Bull('bull', { redis: { host: '127.0.0.1', port } });
  const done = new Set();
  const finished = new Promise((resolve, reject) => {
    queue.on('completed', (job, result) => { done.add(`${job.id}:${result}`); if (done.size === 1003) resolve(); });
    queue.on('error', reject);
  });
  queue.process(20, async (job) => {
    if (job.data.fails && job.attemptsMade === 0) throw new Error('once');
    return job.data.n * 2;
  });
  await queue.addBulk(Array.from({ length: 1000 }, (_, n) => ({ data: { n } })));
  await queue.add({ n: 1, fails: true }, { attempts: 2, backoff: 10 });
  await queue.add({ n: 2 }, { delay: 100 });
  await queue.add({ n: 3 }, { priority: 1 });
  await finished;
  const counts = await queue.getJobCounts();
  check(counts.completed === 1003 && counts.waiting === 0 && counts.failed === 0, `bull counts ${JSON.stringify(counts)}`);
  await queue.close();
}

async function bee() {
  const queue = new Bee('bee', { redis: { host: '127.0.0.1', port }, activateDelayedJobs: true });
  const results = new Map();
  const finished = new Promise((resolve, reject) => {
    queue.on('job succeeded', (id, result) => { results.set(id, result); if (results.size === 502) resolve(); });
    queue.on('error', reject);
  });
  const tries = new Map();
  queue.process(20, async (job) => {
    tries.set(job.id, (tries.get(job.id) || 0) + 1);
    if (job.data.fails && tries.get(job.id) === 1) throw new Error('once');
    return job.data.n + 1;
  });
  await queue.ready();
  const jobs = Array.from({ length: 500 }, (_, n) => queue.createJob({ n }));
  const errors = await queue.saveAll(jobs);
  check(errors.size === 0, 'bee saved all');
  await queue.createJob({ n: 7, fails: true }).retries(2).save();
  await queue.createJob({ n: 8 }).delayUntil(Date.now() + 100).save();
  await finished;
  check(jobs.every((job) => results.get(job.id) === job.data.n + 1), 'bee results');
  const health = await queue.checkHealth();
  check(health.succeeded === 502 && health.waiting === 0 && health.active === 0, `bee health ${JSON.stringify(health)}`);
  await queue.close();
}

report(async () => { await bull(); await bee(); });
