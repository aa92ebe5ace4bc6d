// What the two Node clients share: the cases and the comparison.
'use strict';
const fs = require('fs');
const path = require('path');

exports.cases = JSON.parse(fs.readFileSync(path.join(__dirname, 'seeds.json'), 'utf8'));
exports.source = (name) => fs.readFileSync(path.join(__dirname, '..', '..', 'scripts', 'seed', name + '.lua'), 'utf8');

function matches(want, got) {
  if (want === null) return got === null || got === undefined;
  if (Array.isArray(want)) {
    return Array.isArray(got) && want.length === got.length && want.every((w, i) => matches(w, got[i]));
  }
  if (typeof want === 'object') {
    if (want.between) return typeof got === 'number' && want.between[0] <= got && got <= want.between[1];
    if (!(got instanceof Error)) return false;
    return want.error_has ? got.message.includes(want.error_has) : got.message.startsWith(want.error);
  }
  return typeof want === 'string' ? String(got) === want : got === want;
}

// Runs all cases: `call(words)` sends a command, `script(name, keys, args)` runs a script.
exports.run = async (label, call, script) => {
  let count = 0;
  for (const c of exports.cases) {
    await call(['FLUSHALL']);
    for (const step of c.steps) {
      let got;
      try {
        got = step.cmd ? await call(step.cmd) : await script(step.script, step.keys, step.args);
      } catch (error) {
        got = error;
      }
      if (!matches(step.want, got)) {
        throw new Error(`${c.name} (${label}): ${JSON.stringify(step)} gave ${got instanceof Error ? got.message : JSON.stringify(got)}`);
      }
    }
    count += 1;
  }
  return count;
};
