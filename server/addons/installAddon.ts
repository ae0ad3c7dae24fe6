import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AddonFailure, AddonState } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import { timeLimit } from "@/server/lib/timeLimit";
import { type Addon, lockFile, type Platform, packagesFor, thisPlatform } from "./addon";
import { type AddonRecord, bytesBelow, installedRecord, recordName } from "./addonFolder";
import { npmEnvironment } from "./npmEnvironment";
import { type NpmProgram, npmProgram } from "./npmProgram";
import { npmLine, npmReason } from "./npmText";

export interface InstallOptions {
  readonly signal?: AbortSignal;
  /** Gets each line of progress. */
  readonly onLine?: (line: string) => void;
  readonly limitMs?: number;
  /** Another platform than this one, and another npm, for tests. */
  readonly platform?: Platform;
  readonly npm?: NpmProgram | null;
}

const usualLimitMs = 10 * 60_000;

/** Only the packages of the lock file and the platform's, and nothing of theirs is run. */
const npmFlags = [
  ...["install", "--omit=optional", "--ignore-scripts", "--save-exact"],
  ...["--no-audit", "--no-fund", "--no-progress", "--loglevel=http"],
];

class InstallFailure extends Error {
  constructor(
    readonly failure: AddonFailure,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Installs an add-on below `folder`, whole or not at all: npm fills a folder beside the add-on's, which then takes its place. An add-on that
 * is ready is left alone.
 *
 * @returns ready, unsupported or failed; never rejects.
 */
export async function installAddon(addon: Addon, folder: string, options: InstallOptions = {}): Promise<AddonState> {
  const { onLine = () => undefined, limitMs = usualLimitMs, platform = thisPlatform() } = options;
  const ready = installedRecord(folder, addon);
  if (ready !== null) return readyState(addon, ready);
  const packages = packagesFor(addon, platform);
  if (packages === undefined) return unsupportedState(addon, platform);
  const npm = options.npm === undefined ? npmProgram(process.env) : options.npm;
  if (npm === null) return failed("no-npm", "npm was not found: install it beside Node, or add it to PATH.");
  const signal = timeLimit(options.signal, limitMs);
  let partial: string | null = null;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeLeftovers(folder, addon, limitMs);
    partial = await mkdtemp(join(folder, `.${addon.name}-`));
    await writeFile(join(partial, "package.json"), JSON.stringify({ private: true, dependencies: packages }, null, 2));
    if (addon.lock !== null) await writeFile(join(partial, "package-lock.json"), JSON.stringify(lockFile(addon, packages)));
    onLine(`Installing ${namesOf(packages)}, about ${megabytes(addon.bytes)} on disk …`);
    await runNpm(npm, { folder: partial, signal, onLine });
    checkInstalled(partial, packages);
    const record: AddonRecord = { packages, bytes: await bytesBelow(partial) };
    await writeFile(join(partial, recordName), JSON.stringify(record, null, 2));
    signal.throwIfAborted();
    await takePlace(partial, join(folder, addon.name));
    onLine(`${addon.title} is ready: ${megabytes(record.bytes)}.`);
    return readyState(addon, record);
  } catch (problem) {
    if (signal.aborted) return options.signal?.aborted ? stoppedState : tooLong(limitMs);
    return problem instanceof InstallFailure ? failed(problem.failure, problem.message) : failed("disk", `${reasonOf(problem)}.`);
  } finally {
    if (partial !== null) await rm(partial, { recursive: true, force: true });
  }
}

export function readyState(addon: Addon, { packages, bytes }: AddonRecord): AddonState {
  return { kind: "ready", version: Object.keys(addon.packages).map((name) => packages[name] ?? "")[0] ?? "", bytes };
}

export function unsupportedState(addon: Addon, { platform, arch, musl }: Platform): AddonState {
  const machine = `${platform}-${arch}${musl ? " without glibc" : ""}`;
  return { kind: "unsupported", message: `${addon.title} has no prebuilt package for ${machine}.` };
}

const failed = (cause: AddonFailure, reason: string): AddonState => ({ kind: "failed", cause, reason });

/** Of an installation that its caller stopped. */
export const stoppedState = failed("stopped", "The installation was stopped.");

const tooLong = (limitMs: number): AddonState =>
  failed("timeout", `The installation took longer than ${Math.round(limitMs / 1000)} s and was ended.`);

const namesOf = (packages: AddonRecord["packages"]): string =>
  Object.entries(packages)
    .map(([name, version]) => `${name} ${version}`)
    .join(" and ");

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

interface NpmRun {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

function runNpm(npm: NpmProgram, { folder, signal, onLine }: NpmRun): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(npm.file, [...npm.args, ...npmFlags], {
      cwd: folder,
      env: npmEnvironment(process.env) as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
      signal,
      killSignal: "SIGKILL",
    });
    const lines: string[] = [];
    const read = (text: string): void => {
      for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
        lines.push(line);
        const shown = npmLine(line);
        if (shown !== null) onLine(shown);
      }
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", read);
    let startProblem: Error | null = null;
    child.on("error", (problem) => {
      startProblem = problem;
    });
    child.on("close", (code) => {
      if (code === 0) return resolve();
      const { cause, reason } = npmReason(lines, startProblem ?? new Error(`npm ended with code ${code}`));
      reject(new InstallFailure(cause, reason));
    });
  });
}

/** npm leaves out what it holds for optional without a failure. */
function checkInstalled(folder: string, packages: AddonRecord["packages"]): void {
  for (const [name, version] of Object.entries(packages)) {
    let found: unknown;
    try {
      found = JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
    } catch {
      found = undefined;
    }
    if (found !== version) throw new InstallFailure("incomplete", `npm did not install ${name} ${version}.`);
  }
}

/** A folder cannot replace one that has files, so the old one makes room first. */
async function takePlace(from: string, to: string): Promise<void> {
  const old = `${from}-old`;
  const hadOld = await rename(to, old).then(
    () => true,
    () => false,
  );
  await rename(from, to);
  if (hadOld) await rm(old, { recursive: true, force: true });
}

/** Folders of installations that were killed; a younger one may be at work in another process. */
async function removeLeftovers(folder: string, addon: Addon, olderThanMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`.${addon.name}-`)) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > olderThanMs) await rm(path, { recursive: true, force: true });
  }
}
