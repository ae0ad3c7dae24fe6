// What every launcher needs before it can start: a supported Node, installed packages, fresh bundles, a fresh studio build.
// Plain Node without dependencies, because it runs before they are installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Ends the launcher with one sentence and an exit code; nothing has been started yet when it is called. */
export function refuse(sentence, exitCode = 1) {
  process.stderr.write(`${sentence}\n`);
  process.exit(exitCode);
}

/** Progress goes to stderr: stdout belongs to the command's own output. */
export const say = (line) => process.stderr.write(`${line}\n`);

/** Refuses a Node that lacks what the studio uses (20.19 is the first 20.x that Next 16 and Vite 7 accept). */
export function checkNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) refuse(`Weir needs Node 20.19 or newer; this is ${version}.`);
}

/** Refuses a folder that cannot be written, before it has half-finished files. */
export function checkWritable(folder) {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (problem) {
    const why = problem.code === "ENOTDIR" || problem.code === "EEXIST" ? "a file is in the way of the folder" : "no permission to write";
    refuse(`Cannot use ${folder}: ${why}. Set WEIR_STATE_DIR to a folder you may write.`);
  }
}

/**
 * Takes the rights of other users away from a folder or file of the state, and says so (`server/lib/privateFolder.ts` does it for processes
 * that start without the launcher).
 */
export function closeToOthers(path, mode) {
  const had = statSync(path).mode & 0o1777;
  if ((had & 0o077) === 0) return;
  if (path === "/" || (had & 0o1000) !== 0) refuse(`${path} is shared with other users: set WEIR_STATE_DIR to a folder of its own.`);
  try {
    chmodSync(path, mode);
    say(`${path} was open to other users of this machine (mode ${had.toString(8)}); its mode is now ${mode.toString(8)}.`);
  } catch (problem) {
    say(`${path} is open to other users of this machine (mode ${had.toString(8)}) and cannot be closed: ${problem.message}.`);
  }
}

/**
 * Folder of files with engine keys and CA certificates, so that a new one needs no restart: WEIR_SECRETS_DIR, else a folder of the state
 * for this user alone.
 */
export function secretsFolder(stateDir, named = process.env.WEIR_SECRETS_DIR) {
  if (named) return resolve(named);
  const folder = join(stateDir, "secrets");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  closeToOthers(folder, 0o700);
  return folder;
}

/** Makes a folder for this user alone, with its parents. Node's own recursive call never returns where the system refuses folders, as in /proc. */
function makeFolder(folder, mode = 0o700) {
  if (existsSync(folder) && statSync(folder).isDirectory()) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder), 0o777);
  mkdirSync(folder, { mode });
}

/** Runs a command with its output on stderr and returns its exit code. */
export function runLoud(command, args, extraEnv = {}) {
  const done = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], env: { ...process.env, ...extraEnv } });
  return done.status ?? 1;
}

/** Installs packages when they are missing or older than the lock file. */
export function ensureInstalled() {
  const lock = join(root, "package-lock.json");
  const installed = join(root, "node_modules", ".package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  checkWritable(root);
  say("Installing packages (about two minutes the first time) ...");
  // NODE_ENV=production would omit the build tools. onnxruntime-node would download GPU libraries that are not used here.
  const code = runLoud("npm", ["ci", "--include=dev"], { PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: "1", ONNXRUNTIME_NODE_INSTALL: "skip" });
  if (code !== 0) {
    refuse("npm ci failed (see above); where no prebuilt better-sqlite3 can be had it needs python3, make and g++ to compile one.");
  }
}

/** Installs the documentation's own packages when they are missing or older than their lock file. Returns whether they are there. */
export function ensureDocsInstalled() {
  const lock = join(root, "docs", "package-lock.json");
  const installed = join(root, "docs", "node_modules", ".package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return true;
  say("Installing the documentation's packages (about ten seconds) ...");
  return runLoud("npm", ["ci", "--include=dev", "--prefix", join(root, "docs")]) === 0;
}

/** Builds the documentation into dist/docs when a page is newer than the build. Dead links fail it. Returns whether it is built. */
export async function ensureDocsBuilt() {
  let built = true;
  await unlessFresh("dist/.docsStamp", ["docs"], () => {
    say("Building the documentation (about ten seconds) ...");
    const vitepress = join(root, "docs", "node_modules", "vitepress", "bin", "vitepress.js");
    built = ensureDocsInstalled() && runLoud(process.execPath, [vitepress, "build", join(root, "docs")]) === 0;
    return built;
  });
  return built;
}

/** A digest over names, sizes and times of the files that go into a build. */
function fingerprint(paths) {
  const digest = createHash("sha256");
  const visit = (path) => {
    const entry = statSync(path);
    if (entry.isDirectory()) {
      for (const name of readdirSync(path).sort()) if (name !== "node_modules") visit(join(path, name));
    } else digest.update(`${path}:${entry.size}:${entry.mtimeMs}\n`);
  };
  for (const path of paths) if (existsSync(join(root, path))) visit(join(root, path));
  return digest.digest("hex");
}

/** Runs `build` unless the stamp file says that these sources were built already. A build that returns false is tried again the next time. */
async function unlessFresh(stampFile, sources, build) {
  const now = fingerprint([...sources, "package-lock.json", "tsconfig.json"]);
  const stamp = join(root, stampFile);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === now) return;
  if ((await build()) !== false) writeFileSync(stamp, now);
}

/** Bundles the command line, gateway, emulator and workers when a source is newer than they are. */
export async function ensureBundled() {
  await unlessFresh("dist/.stamp", ["server", "solver", "bench", "scripts/bundle.mjs"], async () => {
    const { bundle } = await import("./bundle.mjs");
    await bundle();
  });
}

/** Builds the studio's pages and the documentation when a source is newer than the build. The studio runs without its documentation. */
export async function ensureStudioBuilt() {
  if (!(await ensureDocsBuilt())) say("The documentation did not build; the studio starts without it. `npm run docs:build` tries again.");
  await unlessFresh(
    ".next/.stamp",
    ["app", "components", "server", "solver", "public", "instrumentation.ts", "instrumentation-client.ts", "next.config.js"],
    () => {
      say("Building the studio (about 20 seconds) ...");
      const next = join(root, "node_modules", "next", "dist", "bin", "next");
      if (runLoud(process.execPath, [next, "build"], { NEXT_TELEMETRY_DISABLED: "1" }) !== 0)
        refuse("The studio did not build; see above.");
    },
  );
}
