"use strict";
// The programs under test: commands that end, and servers that are up until the tests are over.
const { spawn } = require("node:child_process");

const FRESHET = process.env.FRESHET;
const running = new Set();

// Starts `freshet` in the folder of the tests.
function start(args) {
  const child = spawn(FRESHET, args, { cwd: process.env.BROWSER_WORK, stdio: ["ignore", "pipe", "pipe"] });
  child.said = "";
  child.told = "";
  child.stdout.on("data", (part) => { child.said += part; });
  child.stderr.on("data", (part) => { child.told += part; });
  running.add(child);
  child.ended = new Promise((resolve) => {
    child.on("error", (error) => { child.told += error; running.delete(child); resolve(-1); });
    child.on("close", (code) => { running.delete(child); resolve(code); });
  });
  return child;
}

// Runs a command to its end; another exit code than 0 is an error, unless it is one of these.
async function freshet(args, codes = [0]) {
  const child = start(args);
  const code = await child.ended;
  if (!codes.includes(code)) throw new Error(`freshet ${args.join(" ")} ended with ${code}: ${child.told}`);
  return child.said;
}

// Waits until `isSo` gives something.
async function until(what, isSo, seconds = 30) {
  const last = Date.now() + 1000 * seconds;
  for (;;) {
    const found = await isSo();
    if (found) return found;
    if (Date.now() > last) throw new Error(`it did not come to pass in ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function up(child, lines) {
  return until(`freshet says that it is up: ${child.spawnargs.join(" ")}`, () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${child.told}`);
    const said = child.said.split("\n");
    return said.length > lines && said.slice(0, lines);
  });
}

// A web on loopback that changes; gives its seeds.
async function web(hosts, flags) {
  return up(start(["web", "--hosts", String(hosts), "--port", "0", ...flags]), hosts);
}

// The dashboard of a store; gives its address, without a slash at its end.
async function serve(store, flags = []) {
  const [address] = await up(start(["serve", "--store", store, "--listen", "127.0.0.1:0", ...flags]), 1);
  return address.replace(/\/$/, "");
}

async function stopAll() {
  const ends = Array.from(running, (child) => child.ended);
  for (const child of running) child.kill("SIGTERM");
  const late = setTimeout(() => { for (const child of running) child.kill("SIGKILL"); }, 5000);
  await Promise.all(ends);
  clearTimeout(late);
}

module.exports = { freshet, serve, start, stopAll, until, web };
