// The seeds' scripts through node-redis: by defineScript (EVALSHA with fall-back) and by EVAL. usage: node_redis.js PORT
'use strict';
const { createClient, defineScript } = require('redis');
const { cases, run, source } = require('./common.js');

async function main() {
  const names = new Set(cases.flatMap((c) => c.steps.map((s) => s.script)).filter(Boolean));
  const scripts = {};
  for (const name of names) {
    for (let keys = 0; keys <= 2; keys += 1) {
      scripts[`${name}/${keys}`] = defineScript({
        NUMBER_OF_KEYS: keys,
        SCRIPT: source(name),
        transformArguments: (...words) => words,
      });
    }
  }
  const client = createClient({ url: `redis://127.0.0.1:${process.argv[2]}`, scripts });
  client.on('error', (error) => { throw error; });
  await client.connect();
  const call = (words) => client.sendCommand(words);
  let count = await run('defineScript', call, (name, keys, args) => client[`${name}/${keys.length}`](...keys, ...args));
  count += await run('eval', call, (name, keys, args) => client.eval(source(name), { keys, arguments: args }));
  const both = await client.multi().incr('n').incr('n').exec();
  if (JSON.stringify(both) !== '[1,2]') throw new Error('multi gave ' + JSON.stringify(both));
  await client.quit();
  console.log(`ok ${count + 1}`);
}

main().catch((error) => { console.error(error.message); process.exit(1); });
