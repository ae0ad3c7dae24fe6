import { spawn } from "node:child_process";
import { Writable } from "node:stream";
import { bareEnvironment, fenced, NOBODY } from "./fence";

export interface UnitTest {
  readonly command: readonly string[];
  readonly timeoutSeconds: number;
  readonly answer: string;
  readonly test: string;
}

/** Runs commands on answers, shut off from network, files and secrets. */
export interface UnitTests {
  /** Why none can be run here, in one sentence; null: they can. Looked at once. */
  problem(): Promise<string | null>;
  /** Whether the command ended with 0 in its time; null: it could not be run. Rejects when aborted, and then nothing of it runs on. */
  passes(test: UnitTest, signal: AbortSignal): Promise<boolean | null>;
}

/** At once: answers of a profile are to leave the machine to its engines. */
const mostAtOnce = 2;

/** What the fence ends with where the command is not there or cannot be begun. */
const notRun: readonly (number | null)[] = [126, 127];

const refusal =
  "Unit tests are not run here: they need a process without network, and this system lets the studio make none. " +
  "On Linux, allow unprivileged user namespaces and have util-linux (unshare, prlimit, setpriv, pivot_root) and xargs installed.";

/** `hidden` are the studio's own folders: no command sees their content, wherever they are. */
export function createUnitTests(hidden: readonly string[]): UnitTests {
  let known: Promise<string | null> | undefined;
  let running = 0;
  const waiting: (() => void)[] = [];

  async function inTurn<Result>(signal: AbortSignal, run: () => Promise<Result>): Promise<Result> {
    if (running >= mostAtOnce) await new Promise<void>((begin) => waiting.push(begin));
    else running += 1;
    try {
      signal.throwIfAborted();
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  const tried = async (): Promise<string | null> => {
    // With its own processes: kernels before 5.14 count all of the user's against the bound, which may be more already.
    const trial = { command: ["sh", "-c", "true | true"], timeoutSeconds: 10, answer: "", test: "" };
    return (await runFenced(trial, hidden, new AbortController().signal).catch(() => null)) === true ? null : refusal;
  };
  const problem = (): Promise<string | null> => {
    known ??= tried();
    return known;
  };

  return {
    problem,
    async passes(test, signal) {
      if ((await problem()) !== null) return null;
      return inTurn(signal, () => runFenced(test, hidden, signal));
    },
  };
}

/** Time for the steps before the fence is set up, on a busy machine too. */
const setUpMs = 20_000;

const isRoot = process.getuid?.() === 0;

/** Code as models write it down; an answer without a fence is code as a whole. */
export const firstBlock = (answer: string): string =>
  /^ {0,3}(```+|~~~+)[^\n]*\n([\s\S]*?)(?:^ {0,3}\1|$(?![\s\S]))/m.exec(answer)?.[2] ?? answer;

function runFenced(unitTest: UnitTest, hidden: readonly string[], signal: AbortSignal): Promise<boolean | null> {
  const { command, timeoutSeconds, answer, test } = unitTest;
  const [program, words] = fenced({ command, cpuSeconds: Math.ceil(timeoutSeconds) + 1, hidden });
  return new Promise((settle, reject) => {
    const child = spawn(program, words, {
      cwd: "/",
      env: bareEnvironment as Readonly<Record<string, string>> as NodeJS.ProcessEnv,
      detached: true,
      // Its output contains answers: it is not stored. The fourth descriptor reports that the fence is set up.
      stdio: ["pipe", "ignore", "ignore", "pipe", "pipe", "pipe"],
      ...(isRoot && { uid: NOBODY, gid: NOBODY }),
    });
    let stands = false;
    let timer: NodeJS.Timeout | undefined;
    const kill = (): void => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      try {
        // The first process within is of this group and cannot be made to leave it; the kernel ends the rest with it.
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It ended just now.
      }
    };
    // The setup of the fence has its own limit; a command has its full time.
    timer = setTimeout(kill, setUpMs);
    child.stdio[3]?.once("data", () => {
      stands = true;
      clearTimeout(timer);
      timer = setTimeout(kill, timeoutSeconds * 1000);
    });
    for (const [at, text] of [answer, firstBlock(answer), test].entries()) give(child.stdio[at === 0 ? 0 : at + 3], text);
    signal.addEventListener("abort", kill, { once: true });
    const leave = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
    };
    child.once("error", () => {
      leave();
      settle(null);
    });
    child.once("close", (code) => {
      leave();
      if (signal.aborted) reject(signal.reason);
      else settle(stands && !notRun.includes(code) ? code === 0 : null);
    });
    if (signal.aborted) kill();
  });
}

/** One that ended meanwhile accepts no more input; its exit reports that. */
function give(pipe: unknown, text: string): void {
  if (pipe instanceof Writable) pipe.on("error", () => {}).end(text);
}
