// `npm run studio`: installs what is missing, builds what is stale, then runs emulator, gateway and studio as children of
// this process. A child that dies is started again; SIGTERM or SIGINT here ends them all.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { choosePorts, enginePortBase } from "./ports.mjs";
import { checkNode, checkWritable, ensureBundled, ensureInstalled, ensureStudioBuilt, refuse, root, say } from "./prepare.mjs";

/** How long a child may take to answer its health check, and to end when told to, before it is killed. */
const startLimitMs = 30_000;
const stopLimitMs = 6_000;
/** A child that dies this often within a minute is broken, not unlucky. */
const restartsPerMinute = 5;

checkNode();
const stateDir = resolve(process.env.WEIR_STATE_DIR ?? join(root, ".weir"));
checkWritable(stateDir);
const chosen = await choosePorts();
if ("problem" in chosen) refuse(chosen.problem);
ensureInstalled();
await ensureBundled();
await ensureStudioBuilt();

const ports = chosen.ports;
const exitWithParent = pathToFileURL(join(root, "scripts", "exitWithParent.mjs")).href;
const url = (variable) => `http://127.0.0.1:${ports[variable]}`;
const environment = {
  ...process.env,
  ...Object.fromEntries(Object.entries(ports).map(([variable, port]) => [variable, String(port)])),
  NODE_ENV: "production",
  NEXT_TELEMETRY_DISABLED: "1",
  NEXT_MANUAL_SIG_HANDLE: "1",
  WEIR_ROOT: root,
  WEIR_STATE_DIR: stateDir,
  WEIR_ENGINE_PORT_BASE: process.env.WEIR_ENGINE_PORT_BASE ?? String(enginePortBase),
  WEIR_ADMIN_TOKEN: adminToken(join(stateDir, "admin-token")),
};

/** The secret between the three processes; readable by this user alone. */
function adminToken(file) {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString("base64url"), { mode: 0o600 });
  return readFileSync(file, "utf8").trim();
}

const children = new Map();
let stopping = false;
let announced = false;

function start(part) {
  const child = spawn(process.execPath, ["--import", exitWithParent, ...part.args], {
    cwd: root,
    env: environment,
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.set(part.name, child);
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.startsWith("SIGN-IN ")) announce(line.slice("SIGN-IN ".length));
    else if (process.env.WEIR_VERBOSE) say(`${part.name}: ${line}`);
  });
  child.once("exit", (code, signal) => {
    if (stopping) return;
    if (!part.wasUp) {
      say(`${part.name} could not start${code === 1 ? "" : ` (${signal ?? `exit code ${code}`})`}; its reason stands above.`);
      void stop(1);
      return;
    }
    const now = Date.now();
    part.deaths = [...(part.deaths ?? []).filter((at) => now - at < 60_000), now];
    if (part.deaths.length > restartsPerMinute) {
      say(`${part.name} ended ${part.deaths.length} times within a minute (last: ${signal ?? `exit code ${code}`}); giving up.`);
      void stop(1);
      return;
    }
    say(`${part.name} ended (${signal ?? `exit code ${code}`}); starting it again.`);
    setTimeout(() => stopping || start(part), 300 * part.deaths.length);
  });
}

async function healthy(part) {
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
  await stop(1);
}

function announce(link) {
  if (announced) {
    say(`The studio is back; signed-in browsers stay signed in. Another link: ${link}`);
    return;
  }
  announced = true;
  process.stdout.write(
    [
      "",
      `  Weir studio   ${url("WEIR_STUDIO_PORT")}`,
      `  Sign in       ${link}`,
      `                (works once, for an hour; \`npm run weir -- sign-in\` makes another)`,
      `  Gateway       ${url("WEIR_GATEWAY_PORT")}/v1   (OpenAI-compatible)`,
      `  Cluster       embedded and emulated: no GPU is used`,
      "",
      "  Ctrl-C ends everything.",
      "",
    ].join("\n"),
  );
}

async function stop(exitCode) {
  if (stopping) return;
  stopping = true;
  // The gateway finishes what it can while its engines still answer.
  await Promise.all(["studio", "gateway"].map((name) => end(children.get(name))));
  await end(children.get("emulator"));
  process.exit(exitCode);
}

function end(child) {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const gone = new Promise((done) => child.once("exit", done));
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), stopLimitMs);
  return gone.finally(() => clearTimeout(force));
}

process.once("SIGTERM", () => void stop(0));
process.once("SIGINT", () => void stop(0));

const parts = [
  { name: "emulator", args: [join(root, "dist", "emulator.mjs")], health: `${url("WEIR_EMULATOR_PORT")}/health` },
  { name: "gateway", args: [join(root, "dist", "gateway.mjs")], health: `${url("WEIR_GATEWAY_PORT")}/health` },
  {
    name: "studio",
    args: [join(root, "node_modules", "next", "dist", "bin", "next"), "start", "-H", "127.0.0.1", "-p", String(ports.WEIR_STUDIO_PORT)],
    health: `${url("WEIR_STUDIO_PORT")}/api/health`,
  },
];
for (const part of parts) {
  start(part);
  await healthy(part);
}
