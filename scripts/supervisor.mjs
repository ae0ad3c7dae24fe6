// Child processes of a launcher: restarted when they die, stopped with it.
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { root, say } from "./prepare.mjs";

/** Time limit for a child's health check, and for its shutdown before it is killed. */
const startLimitMs = 30_000;
const stopLimitMs = 6_000;
/** A gateway that is stopped patiently finishes its open requests, which takes ten minutes at most (`server/gateway/http/limits.ts`). */
const patienceMs = 615_000;
/** A longer log is rotated and replaces the previous one. */
const longestLogBytes = 4_000_000;
/** A child that dies this often within a minute is broken. */
const restartsPerMinute = 5;
/** A broken spare child is restarted after at most this time: the obstacle may disappear. */
const longestPauseMs = 30_000;

const exitWithParent = pathToFileURL(join(root, "scripts", "exitWithParent.mjs")).href;

/**
 * Supervises parts `{ name, args, environment, health?, isSpare?, log? }`, each a Node process; `log` is a file for its output. Without a
 * part that is not a spare, the whole is broken: `onBroken` is called when such a part could not start, or dies again and again.
 */
export function createSupervisor({ onLine, onBroken }) {
  const children = new Map();
  let stopping = false;

  function start(part) {
    const child = spawn(process.execPath, ["--import", exitWithParent, ...part.args], {
      cwd: root,
      env: part.environment,
      stdio: ["pipe", "pipe", part.log === undefined ? "inherit" : "pipe"],
    });
    children.set(part.name, { part, child });
    createInterface({ input: child.stdout }).on("line", (line) => {
      keep(part, line);
      onLine(part, line);
    });
    if (part.log !== undefined)
      createInterface({ input: child.stderr }).on("line", (line) => {
        keep(part, line);
        process.stderr.write(`${line}\n`);
      });
    // Its last output is printed before the message about its end.
    child.once(part.log === undefined ? "exit" : "close", (code, signal) => {
      if (stopping || part.isEnded) return;
      const how = signal ?? `exit code ${code}`;
      if (!part.wasUp && !part.isSpare) {
        say(`${part.name} could not start${code === 1 ? "" : ` (${how})`}; its reason stands above.`);
        onBroken();
        return;
      }
      const now = Date.now();
      part.deaths = [...(part.deaths ?? []).filter((at) => now - at < 60_000), now];
      const isBroken = part.deaths.length > restartsPerMinute;
      if (isBroken && !part.isSpare) {
        say(`${part.name} ended ${part.deaths.length} times within a minute (last: ${how}); giving up.`);
        onBroken();
        return;
      }
      const pauseMs = isBroken ? longestPauseMs : 300 * part.deaths.length;
      say(`${part.name} ended (${how}); starting it again${isBroken ? ` in ${pauseMs / 1000} s` : ""}.`);
      setTimeout(() => stopping || part.isEnded || start(part), pauseMs);
    });
  }

  async function untilHealthy(part) {
    const deadline = Date.now() + startLimitMs;
    while (Date.now() < deadline && !stopping) {
      const answer = await fetch(part.health).catch(() => null);
      if (answer?.ok) {
        part.wasUp = true;
        return;
      }
      await new Promise((done) => setTimeout(done, 100));
    }
    if (stopping) return;
    say(`${part.name} did not answer ${part.health} within ${startLimitMs / 1000} s; run with WEIR_VERBOSE=1 to see what it says.`);
    onBroken();
  }

  /**
   * Stops one part permanently and patiently, after it has answered its open requests; resolves when its process has ended. A part that is
   * stopping can be hurried.
   */
  async function end(name, { patiently = false } = {}) {
    const { part, child } = children.get(name) ?? {};
    if (part === undefined) return;
    part.isEnded = true;
    await (patiently ? ended(child, "SIGUSR2", patienceMs) : ended(child, "SIGTERM", stopLimitMs));
    if (children.get(name)?.child === child) children.delete(name);
  }

  return {
    start,
    untilHealthy,
    end,
    /** Stops everything, the parts of the last name after all others. */
    async stop(last) {
      stopping = true;
      const names = [...children.keys()];
      await Promise.all(names.filter((name) => name !== last).map((name) => end(name)));
      await end(last);
    },
  };
}

/** Appends a line of a part to its log, if it has one. */
function keep({ log }, line) {
  if (log === undefined) return;
  try {
    mkdirSync(dirname(log), { recursive: true });
    appendFileSync(log, `${line}\n`, { mode: 0o600 });
    if (statSync(log).size > longestLogBytes) renameSync(log, `${log}.old`);
  } catch {
    // A full disk must not stop a gateway.
  }
}

function ended(child, signal, limitMs) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const gone = new Promise((done) => child.once("exit", done));
  child.kill(signal);
  const force = setTimeout(() => child.kill("SIGKILL"), limitMs);
  return gone.finally(() => clearTimeout(force));
}
