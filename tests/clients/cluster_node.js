// A cluster of one node through the cluster clients of ioredis and node-redis. usage: cluster_node.js PORT
'use strict';
const Redis = require('ioredis');
const { createCluster } = require('redis');

let done = 0;
function same(got, want) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
  if (a !== b) throw new Error(`got ${a}, want ${b}`);
  done += 1;
}

async function main() {
  const port = Number(process.argv[2]);
  const io = new Redis.Cluster([{ host: '127.0.0.1', port }], { clusterRetryStrategy: () => null });
  same(await io.set('a', 1), 'OK');
  same(await io.get('a'), '1');
  same(io.nodes().length, 1);
  io.defineCommand('pair', { numberOfKeys: 1, lua: 'return {KEYS[1],ARGV[1]}' });
  same(await io.pair('k', 'v'), ['k', 'v']);
  same(await io.multi().set('{x}1', 1).get('{x}1').exec(), [[null, 'OK'], [null, '1']]);
  same(await io.mget('a', 'b').catch((e) => e.message), "CROSSSLOT Keys in request don't hash to the same slot");
  await io.quit();
  const node = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] });
  await node.connect();
  same(await node.set('a', '2'), 'OK');
  same(await node.get('a'), '2');
  same(await node.eval('return KEYS[1]', { keys: ['k'], arguments: [] }), 'k');
  await node.disconnect();
  console.log(`ok ${done}`);
}

main().catch((error) => { console.error(error.message); process.exit(1); });
