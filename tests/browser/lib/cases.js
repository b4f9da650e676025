"use strict";
// A list of named cases that run one after another. A case fails by throwing.
const assert = require("node:assert/strict");

const cases = [];
const test = (name, run) => cases.push({ name, run });

// Runs those with `part` in their names; gives how many failed.
async function runAll(part, told) {
  let passed = 0;
  const failed = [];
  for (const { name, run } of cases) {
    if (!name.includes(part)) continue;
    const begun = Date.now();
    try {
      await run(told);
      passed += 1;
      console.log(`ok    ${name} (${Date.now() - begun} ms)`);
    } catch (error) {
      failed.push(name);
      console.log(`FAIL  ${name}\n      ${String(error.stack || error).replace(/\n/g, "\n      ")}`);
    }
  }
  for (const name of failed) console.log(`failed: ${name}`);
  console.log(`${passed} passed, ${failed.length} failed`);
  return failed.length;
}

module.exports = { assert, runAll, test };
