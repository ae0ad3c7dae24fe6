// Child processes of a launcher: started again when they die, ended with it.
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { root, say } from "./prepare.mjs";

/** How long a child may take to answer its health check, and to end when told to, before it is killed. */
const startLimitMs = 30_000;
const stopLimitMs = 6_000;
/** A gateway that is ended patiently answers what it was asked, which takes ten minutes at most (`server/gateway/http/limits.ts`). */
const patienceMs = 615_000;
/** A log that is longer is put aside, over the one before. */
const longestLogBytes = 4_000_000;
/** A child that dies this often within a minute is broken, not unlucky. */
const restartsPerMinute = 5;
/** A spare child that is broken is tried again after no more than this: what is in its way may go. */
const longestPauseMs = 30_000;

const exitWithParent = pathToFileURL(join(root, "scripts", "exitWithParent.mjs")).href;

/**
 * Supervises parts `{ name, args, environment, health?, isSpare?, log? }`, each a Node process; `log` is a file that keeps what it says. Without one that is no spare the whole is
 * broken: `onBroken` is told once it could not start, or dies again and again.
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
    // What it said last comes before what is said of its end.
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

  /** Ends one part for good, patiently once it has answered what it was asked; resolves when its process is gone. One that is ending can be hurried. */
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
    /** Ends everything, the parts of the last name after all others. */
    async stop(last) {
      stopping = true;
      const names = [...children.keys()];
      await Promise.all(names.filter((name) => name !== last).map((name) => end(name)));
      await end(last);
    },
  };
}

/** Puts a line of a part into its log, if it has one. */
function keep({ log }, line) {
  if (log === undefined) return;
  try {
    mkdirSync(dirname(log), { recursive: true });
    appendFileSync(log, `${line}\n`, { mode: 0o600 });
    if (statSync(log).size > longestLogBytes) renameSync(log, `${log}.old`);
  } catch {
    // A full disk ends no gateway.
  }
}

function ended(child, signal, limitMs) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const gone = new Promise((done) => child.once("exit", done));
  child.kill(signal);
  const force = setTimeout(() => child.kill("SIGKILL"), limitMs);
  return gone.finally(() => clearTimeout(force));
}
