import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterEach, expect, test } from "vitest";
import { gatewayConfig } from "@/server/clusters/connector/gatewayRouting";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { askCascade, planOnGpus } from "@/server/clusters/testing/testCluster";
import { startTestEndpoint } from "@/server/endpoints/testing/testEndpoints";
import { gatewayBeside, launcher as studioLauncher } from "@/server/fleet/gatewayBeside";
import { openStore } from "@/server/store/store";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A studio without pages, and a launcher like `npm run studio`; both are this repository's own code. */
async function launch(
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly launcher: ChildProcess; readonly said: () => string }> {
  const studio = resolve("dist", `studio-${process.pid}.mjs`);
  const contents = `
    import { runtime, startRuntime } from "@/server/runtime";
    startRuntime();
    console.log("STUDIO " + process.pid);
    process.on("SIGUSR2", async () => {
      const { attach, clusters } = runtime().services;
      const attached = clusters.list().find(({ spec }) => spec.kind === "endpoints");
      const key = { environment: "WEIR_ENGINE_TEST" };
      const endpoint = { name: "a", url: process.env.ENGINE_URL, key, model: "qwen2.5-3b", gpu: "l40s", precision: "bf16" };
      const answer = attached === undefined
        ? await attach.attach({ name: "cluster " + clusters.list().length, connection: { kind: "endpoints", endpoints: [endpoint] }, gateway: null }, "ada")
        : await attach.detach(attached.spec.id, attached.spec.name, "ada");
      console.log("ANSWER " + JSON.stringify(answer));
    });`;
  const alias = { "@/server": resolve("server"), "@/solver": resolve("solver") };
  const stdin = { contents, resolveDir: resolve("."), loader: "ts" } as const;
  await build({ stdin, outfile: studio, alias, bundle: true, platform: "node", format: "esm", packages: "external", logLevel: "silent" });
  endings.push(() => rmSync(studio));
  const script = `
    import { createGateways } from "./scripts/gateways.mjs";
    import { createSupervisor } from "./scripts/supervisor.mjs";
    const environment = process.env;
    const supervisor = createSupervisor({
      onLine: (part, line) => gateways.take(line) || console.log(line),
      onBroken: () => process.exit(3),
    });
    const gateways = createGateways({ supervisor, environment, stateDir: environment.WEIR_STATE_DIR });
    supervisor.start({ name: "studio", args: [${JSON.stringify(studio)}], environment, wasUp: true });
    process.once("SIGTERM", async () => {
      await supervisor.stop("emulator");
      process.exit(0);
    });`;
  const env = { ...process.env, ...environment, WEIR_LAUNCHED: "1" };
  const launcher = spawn(process.execPath, ["--input-type=module", "-e", script], { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [launcher.stdout, launcher.stderr]) {
    stream?.on("data", (part) => {
      said += part;
    });
  }
  endings.push(async () => {
    if (launcher.exitCode !== null) return;
    const gone = new Promise((done) => launcher.once("exit", done));
    launcher.kill("SIGTERM");
    await gone;
  });
  return { launcher, said: () => said };
}

const run = promisify(execFile);

/** Process ids of a launcher's children whose command line contains a word. */
async function childrenOf({ pid }: ChildProcess, word: string): Promise<readonly number[]> {
  const found = await run("pgrep", ["-P", `${pid}`, "-f", word]).catch(() => ({ stdout: "" }));
  return found.stdout.split("\n").flatMap((line) => (line === "" ? [] : [Number(line)]));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Makes a gateway send requests to one engine, like a step of a roll-out. */
async function route(adminPort: number, url: string): Promise<number> {
  const plan = planOnGpus("one", { "qwen2.5-3b": [0] }, "a");
  const engines = targetEngines(plan).map((engine) => ({
    ...engine,
    url,
    stopping: false,
    access: { key: { environment: "WEIR_ENGINE_TEST" } },
  }));
  const routing = { planId: plan.id, active: engines.map(({ id }) => id), cordoned: [] };
  const config = gatewayConfig({ routing, plan, engines, judge: null, timeScale: 1, current: null });
  const headers = { authorization: "Bearer secret", "content-type": "application/json", "if-match": '"none"' };
  const body = JSON.stringify({ ...config, by: "test", reason: "" });
  return (await fetch(`http://127.0.0.1:${adminPort}/config`, { method: "PUT", headers, body })).status;
}

const limit = { timeout: 20_000, interval: 100 };

test("a cluster's gateway is started when it is attached, outlives the studio, is started again when it dies, and ends with the cluster", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-gateways-"));
  endings.push(() => rmSync(folder, { recursive: true }));
  const engine = await startTestEndpoint({ models: ["qwen2.5-3b"], key: "sesame" });
  endings.push(() => engine.close());
  const secrets = { WEIR_ADMIN_TOKEN: "secret", WEIR_STUDIO_PUBLIC_KEY: "none", WEIR_ENGINE_TEST: "sesame" };
  const nowhere = { WEIR_EMULATOR_PORT: "9", WEIR_GATEWAY_PORT: "9", WEIR_GATEWAY_ADMIN_PORT: "9" };
  const { launcher, said } = await launch({
    ...secrets,
    ...nowhere,
    WEIR_STATE_DIR: folder,
    WEIR_LOG_LEVEL: "silent",
    ENGINE_URL: engine.url,
  });
  const gateways = () => childrenOf(launcher, "gateway.mjs");
  const studios = () => childrenOf(launcher, "studio-");
  const answers = (count: number) => expect.poll(() => said().split("ANSWER ").length - 1, limit).toBe(count);
  await expect.poll(said, limit).toContain("STUDIO ");
  expect(await gateways()).toEqual([]);

  const signal = async () => process.kill((await studios())[0] ?? 0, "SIGUSR2");
  await signal();
  await answers(1);
  expect(said()).toMatch(/ANSWER {"ok":true/);
  const store = openStore(folder);
  endings.push(() => store.close());
  const place = store.clusters.list().find(({ spec }) => spec.kind === "endpoints")?.gateway;
  if (place?.runBy !== "studio") throw new Error("The cluster has no gateway beside the studio.");
  const healthy = async () => (await fetch(`http://127.0.0.1:${place.port}/health`).catch(() => null))?.ok ?? false;
  await expect.poll(healthy, limit).toBe(true);
  expect(await route(place.adminPort, engine.url)).toBe(200);
  const answered = async () => (await askCascade(`http://127.0.0.1:${place.port}`, "one").catch(() => null))?.status;
  expect(await answered()).toBe(200);
  expect(engine.asked.map(({ authorization }) => authorization)).toEqual(["Bearer sesame"]);
  const [first = 0] = await gateways();

  const [studio = 0] = await studios();
  process.kill(studio, "SIGKILL");
  await expect.poll(() => said().split("STUDIO ").length - 1, limit).toBe(2);
  await expect.poll(() => isRunning(studio), limit).toBe(false);
  expect(await answered()).toBe(200);
  expect(await gateways()).toEqual([first]);

  process.kill(first, "SIGKILL");
  await expect.poll(async () => (await gateways()).filter((pid) => pid !== first).length, limit).toBe(1);
  await expect.poll(answered, limit).toBe(200);
  const [second = 0] = await gateways();

  // Longer than the limit for a gateway whose end is awaited.
  engine.is.answerMs = 8_000;
  const before = engine.asked.length;
  const slow = answered();
  await expect.poll(() => engine.asked.length, limit).toBe(before + 1);
  await signal();
  await answers(2);
  await expect.poll(healthy, limit).toBe(false);
  expect(await slow).toBe(200);
  engine.is.answerMs = 0;
  expect(said()).not.toContain('"ok":false');
  await expect.poll(() => isRunning(second), limit).toBe(false);
  expect(await gateways()).toEqual([]);

  await signal();
  await answers(3);
  await expect.poll(async () => (await gateways()).length, limit).toBe(1);
  const row = store.clusters.list().find(({ spec }) => spec.kind === "endpoints");
  if (row?.gateway?.runBy !== "studio") throw new Error("The cluster has no gateway beside the studio.");
  expect(row.gateway.port).not.toBe(place.port);
  const { port } = row.gateway;
  const beside = gatewayBeside(row.id, row.gateway, folder);
  await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/health`).catch(() => null))?.ok, limit).toBe(true);
  expect(studioLauncher(() => undefined).advice(beside)).toBeNull();
  process.kill((await gateways())[0] ?? 0, "SIGKILL");
  const stranger = createServer();
  const listening = () =>
    new Promise((resolve) => stranger.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true)));
  await expect.poll(listening, { ...limit, interval: 10 }).toBe(true);
  await expect
    .poll(() => studioLauncher(() => undefined).advice(beside), limit)
    .toMatch(/^It cannot start: Port \d+ on 127\.0\.0\.1 is taken .* other ports\.$/);
  await new Promise((resolve) => stranger.close(resolve));
  await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/health`).catch(() => null))?.ok, limit).toBe(true);

  const [third = 0] = await gateways();
  const gone = new Promise((done) => launcher.once("exit", done));
  launcher.kill("SIGTERM");
  expect(await gone).toBe(0);
  expect(isRunning(third)).toBe(false);
}, 90_000);

/** The result of lines for a launcher with its state in `/state`. */
async function readLines(lines: readonly string[]): Promise<readonly unknown[]> {
  const script = `
    import { readGatewayLine } from "./scripts/gateways.mjs";
    console.log(JSON.stringify(JSON.parse(process.argv[1]).map((line) => readGatewayLine(line, "/state"))));`;
  return JSON.parse((await run(process.execPath, ["--input-type=module", "-e", script, JSON.stringify(lines)])).stdout);
}

test("lines about gateways are taken only as the studio writes them", async () => {
  const clusterId = "6f1c1d3c-6a55-4a07-8d6e-0f6f7f2f9f10";
  const good = { clusterId, port: 4700, adminPort: 4701, stateDir: `/state/clusters/${clusterId}` };
  const line = (said: unknown) => `GATEWAY ${JSON.stringify(said)}`;
  expect(await readLines([line(good), `GATEWAY-END ${clusterId}`])).toEqual([
    { run: { clusterId, port: 4700, adminPort: 4701 } },
    { end: clusterId },
  ]);
  const bad = [
    { ...good, clusterId: "../../etc" },
    { ...good, port: 80 },
    { ...good, port: "4700" },
    { ...good, adminPort: 4700 },
    { ...good, stateDir: "/etc" },
    { ...good, args: ["--inspect"] },
    null,
    [],
    7,
  ].map(line);
  const foreign = ["GATEWAY", "GATEWAY {", "GATEWAY-END", "GATEWAY-END all", `gateway-end ${clusterId}`, "", "SIGN-IN x"];
  expect(await readLines([...bad, ...foreign])).toEqual([...bad, ...foreign].map(() => null));
});
