// Child processes of a launcher: started again when they die, ended with it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { root, say } from "./prepare.mjs";

/** How long a child may take to answer its health check, and to end when told to, before it is killed. */
const startLimitMs = 30_000;
const stopLimitMs = 6_000;
/** A child that dies this often within a minute is broken, not unlucky. */
const restartsPerMinute = 5;
/** A spare child that is broken is tried again after no more than this: what is in its way may go. */
const longestPauseMs = 30_000;

const exitWithParent = pathToFileURL(join(root, "scripts", "exitWithParent.mjs")).href;

/**
 * Supervises parts `{ name, args, environment, health?, isSpare? }`, each a Node process. Without one that is no spare the whole is
 * broken: `onBroken` is told once it could not start, or dies again and again.
 */
export function createSupervisor({ onLine, onBroken }) {
  const children = new Map();
  let stopping = false;

  function start(part) {
    const child = spawn(process.execPath, ["--import", exitWithParent, ...part.args], {
      cwd: root,
      env: part.environment,
      stdio: ["pipe", "pipe", "inherit"],
    });
    children.set(part.name, { part, child });
    createInterface({ input: child.stdout }).on("line", (line) => onLine(part, line));
    child.once("exit", (code, signal) => {
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

  /** Ends one part for good; resolves when its process is gone. */
  function end(name) {
    const { part, child } = children.get(name) ?? {};
    if (part === undefined) return Promise.resolve();
    part.isEnded = true;
    children.delete(name);
    return ended(child);
  }

  return {
    start,
    untilHealthy,
    end,
    /** Ends everything, the parts of the last name after all others. */
    async stop(last) {
      stopping = true;
      const names = [...children.keys()];
      await Promise.all(names.filter((name) => name !== last).map(end));
      await end(last);
    },
  };
}

function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const gone = new Promise((done) => child.once("exit", done));
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), stopLimitMs);
  return gone.finally(() => clearTimeout(force));
}
