// What the smoke tests of libraries share: checks that are counted, and a deadline so that none of them hangs.
'use strict';
let count = 0;

exports.check = (good, what) => {
  if (!good) throw new Error(what);
  count += 1;
};

exports.report = (main, ms = 55000) => {
  const late = setTimeout(() => { console.error(`no end after ${count} checks`); process.exit(1); }, ms);
  main().then(
    () => { clearTimeout(late); console.log(`ok ${count}`); process.exit(0); },
    (error) => { console.error(error.stack || String(error)); process.exit(1); },
  );
};
