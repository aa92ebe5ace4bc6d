// The seeds' scripts through ioredis: by its custom commands (EVALSHA with fall-back) and by EVAL. usage: ioredis.js PORT
'use strict';
const Redis = require('ioredis');
const { cases, run, source } = require('./common.js');

async function main() {
  const client = new Redis({ port: Number(process.argv[2]), host: '127.0.0.1' });
  const names = new Set(cases.flatMap((c) => c.steps.map((s) => s.script)).filter(Boolean));
  const command = (name) => 'seed_' + name.replaceAll('-', '_');
  for (const name of names) client.defineCommand(command(name), { lua: source(name) });
  const call = (words) => client.call(...words);
  let count = await run('defineCommand', call, (name, keys, args) => client[command(name)](keys.length, ...keys, ...args));
  count += await run('eval', call, (name, keys, args) => client.eval(source(name), keys.length, ...keys, ...args));
  const piped = await client.multi().incr('n').incr('n').exec();
  if (JSON.stringify(piped) !== '[[null,1],[null,2]]') throw new Error('multi gave ' + JSON.stringify(piped));
  client.disconnect();
  console.log(`ok ${count + 1}`);
}

main().catch((error) => { console.error(error.message); process.exit(1); });
