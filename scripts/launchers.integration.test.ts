import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

/** Runs plain Node on a module expression and returns exit code and output, whatever the code was. */
async function node(script: string, environment: Record<string, string> = {}) {
  const child = run(process.execPath, ["--input-type=module", "-e", script], { env: { ...process.env, ...environment } });
  return child.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({ code: error.code, stdout: error.stdout, stderr: error.stderr }),
  );
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("an old Node is refused with the version found and the version needed", async () => {
  const old = await node('import { checkNode } from "./scripts/prepare.mjs"; checkNode("18.20.1");');
  expect(old.code).toBe(1);
  expect(old.stderr.trim()).toBe("Weir needs Node 20.19 or newer; this is 18.20.1.");
  expect((await node('import { checkNode } from "./scripts/prepare.mjs"; checkNode("20.19.0");')).code).toBe(0);
});

test("a port that is taken is named with the variable that moves it", async () => {
  const holder = createServer();
  await new Promise<void>((listening) => holder.listen(0, "127.0.0.1", listening));
  const address = holder.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const answer = await node('import { choosePorts } from "./scripts/ports.mjs"; console.log((await choosePorts()).problem);', {
    WEIR_STUDIO_PORT: String(port),
  });
  await new Promise((closed) => holder.close(closed));
  expect(answer.stdout.trim()).toBe(`Port ${port} is taken: end what listens there, or set WEIR_STUDIO_PORT to another port.`);
});

test("a port that is no number is refused with the value given", async () => {
  const answer = await node('import { choosePorts } from "./scripts/ports.mjs"; console.log((await choosePorts()).problem);', {
    WEIR_GATEWAY_PORT: "http",
  });
  expect(answer.stdout.trim()).toBe('WEIR_GATEWAY_PORT is "http": give a port from 1 to 65535.');
});

test("two ports that are one are named together", async () => {
  const answer = await node('import { choosePorts } from "./scripts/ports.mjs"; console.log((await choosePorts()).problem);', {
    WEIR_STUDIO_PORT: "45678",
    WEIR_DCGM_PORT: "45678",
  });
  expect(answer.stdout.trim()).toBe("WEIR_STUDIO_PORT and WEIR_DCGM_PORT are both 45678: give each its own port.");
});

test("a child whose launcher is killed outright ends itself", async () => {
  const launcher = `
    import { spawn } from "node:child_process";
    const child = spawn(process.execPath, ["--import", "./scripts/exitWithParent.mjs", "-e", "setInterval(() => {}, 1000)"], { stdio: ["pipe", "ignore", "ignore"] });
    console.log(child.pid);
    setTimeout(() => process.kill(process.pid, "SIGKILL"), 300);`;
  const killed = await node(launcher);
  const pid = Number(killed.stdout.trim());
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => isRunning(pid), { timeout: 5000 }).toBe(false);
});

test("keys are put into a folder of the state that only this user may read, or into the one that is named", async () => {
  const state = mkdtempSync(join(tmpdir(), "weir-state-"));
  const script = `import { secretsFolder } from "./scripts/prepare.mjs"; console.log(secretsFolder(${JSON.stringify(state)}));`;
  const usual = await node(script, { WEIR_SECRETS_DIR: "" });
  expect(usual.stdout.trim()).toBe(join(state, "secrets"));
  expect(statSync(join(state, "secrets")).mode & 0o777).toBe(0o700);
  expect((await node(script, { WEIR_SECRETS_DIR: "/etc/weir-keys" })).stdout.trim()).toBe("/etc/weir-keys");
  rmSync(state, { recursive: true });
});

test("a state folder and a token that other users may read are closed to them, and it is said", async () => {
  const state = mkdtempSync(join(tmpdir(), "weir-state-"));
  const token = join(state, "admin-token");
  writeFileSync(token, "secret", { mode: 0o644 });
  chmodSync(state, 0o755);
  const script = `import { closeToOthers } from "./scripts/prepare.mjs";
    closeToOthers(${JSON.stringify(state)}, 0o700); closeToOthers(${JSON.stringify(token)}, 0o600);`;
  const first = await node(script);
  expect([state, token].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(["700", "600"]);
  expect(first.stderr.trim().split("\n")).toEqual([
    `${state} was open to other users of this machine (mode 755); its mode is now 700.`,
    `${token} was open to other users of this machine (mode 644); its mode is now 600.`,
  ]);
  expect((await node(script)).stderr).toBe("");
  chmodSync(state, 0o1777);
  expect((await node(script)).stderr).toContain("is shared with other users");
  rmSync(state, { recursive: true });
});

test("a new state folder is for this user alone", async () => {
  const parent = mkdtempSync(join(tmpdir(), "weir-state-"));
  const state = join(parent, "a", "b");
  await node(`process.umask(0o022); (await import("./scripts/prepare.mjs")).checkWritable(${JSON.stringify(state)});`);
  expect([join(parent, "a"), state].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(["755", "700"]);
  rmSync(parent, { recursive: true });
});

test("a state folder that cannot be written is named with the way out", async () => {
  // A file is not a folder, not even for root.
  const answer = await node('import { checkWritable } from "./scripts/prepare.mjs"; checkWritable("/dev/null/weir");');
  expect(answer.code).toBe(1);
  expect(answer.stderr.trim()).toBe(
    "Cannot use /dev/null/weir: a file is in the way of the folder. Set WEIR_STATE_DIR to a folder you may write.",
  );
  const nowhere = await node('import { checkWritable } from "./scripts/prepare.mjs"; checkWritable("/proc/weir/state");');
  expect(nowhere.stderr.trim()).toBe("Cannot use /proc/weir/state: no permission to write. Set WEIR_STATE_DIR to a folder you may write.");
});

test("the studio is asked for its health at the address that it listens on", async () => {
  const script = 'import { studioHost } from "./scripts/ports.mjs"; console.log(studioHost());';
  const hosts = { "10.0.0.5": "10.0.0.5", "fd00::5": "[fd00::5]", "0.0.0.0": "127.0.0.1", "::": "127.0.0.1", "": "127.0.0.1" };
  for (const [address, host] of Object.entries(hosts))
    expect((await node(script, { WEIR_STUDIO_ADDRESS: address })).stdout.trim()).toBe(host);
});
