import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { startTestCluster } from "./testCluster";

type TestCluster = Awaited<ReturnType<typeof startTestCluster>>;

export interface RollOutToKill {
  readonly planId: string;
  /** Aborts as soon as this many steps are done, and counts boundaries only from then on; absent: never. */
  readonly abortAfter?: number;
  /** Boundaries until it is killed; absent: never. */
  readonly dieAfter?: number;
  /** The cluster's schedule applies the plan, at this time by the studio's clock, and not a person. */
  readonly scheduledAtMs?: number;
}

/**
 * A process that puts a plan into force as a studio does and kills itself, without a clean shutdown, at a boundary: after every transaction
 * of its store about the application, and before and after every call that changes the gateway or the engines.
 */
const studio = `
  import { createApplicationService } from "@/server/api/plans/applicationService";
  import { orderSigner, studioKey } from "@/server/lib/studioKey";
  import { openStore } from "@/server/store/store";
  import { createAdminClient } from "../connector/adminClient";
  import { createApplyRunner } from "../apply/applyRunner";
  import { createConnector } from "../connector/clusterConnector";
  import { createEmulatorHost } from "../connector/emulatorHost";
  import { createSchedules } from "../watch/schedules";

  const { planId, abortAfter, dieAfter, scheduledAtMs, folder, token, gatewayAdminUrl, emulatorUrl } = JSON.parse(process.argv[2]);
  let counting = abortAfter === undefined;
  let reached = 0;
  const boundary = () => {
    if (counting && ++reached === dieAfter) process.kill(process.pid, "SIGKILL");
  };
  const store = openStore(folder);
  let depth = 0;
  const atomically = (write) => {
    depth += 1;
    const result = store.atomically(write);
    depth -= 1;
    if (depth === 0) boundary();
    return result;
  };
  const save = (row) => {
    store.schedules.save(row);
    if (depth === 0) boundary();
  };
  const watched = { ...store, atomically, schedules: { ...store.schedules, save } };
  const call = globalThis.fetch;
  globalThis.fetch = async (address, options) => {
    const changes = options.method !== "GET" && !new URL(address).pathname.startsWith("/v1/");
    if (changes) boundary();
    const response = await call(address, options);
    if (changes) boundary();
    return response;
  };
  const connector = createConnector({
    host: createEmulatorHost({ emulator: createAdminClient("emulator", emulatorUrl, token), heldOutOutcomes: () => null }),
    gateway: createAdminClient("gateway", gatewayAdminUrl, token, { clusterId: "embedded", sign: orderSigner(studioKey(folder)) }),
    planOf: (id) => store.plans.get(id),
  });
  const runner = createApplyRunner({ store: watched, connectorOf: () => connector, graceMs: 0 });
  const scheduled = async () => {
    const { start } = createApplicationService(watched, runner);
    const clusterOf = () => ({ collector: () => ({ routing: () => ({ controls: null }) }) });
    const schedules = createSchedules({ store: watched, start, clusterOf, now: () => scheduledAtMs, everyMs: 5 });
    for (;;) {
      const { rollingId, last } = store.schedules.get("embedded").memory;
      if (rollingId === null && last !== null && last.applicationId !== null) return schedules.close();
      await new Promise((wake) => setTimeout(wake, 5));
    }
  };
  const applied = async () => {
    const started = await runner.start({ clusterId: "embedded", planId, kind: "apply", actor: "a" });
    if (!started.ok) throw new Error(started.message);
    return started.application.id;
  };
  if (scheduledAtMs !== undefined) await scheduled();
  const id = scheduledAtMs === undefined ? await applied() : store.applications.list("embedded")[0].id;
  for (;;) {
    const { endedAt, steps } = store.applications.get(id);
    if (endedAt !== null) break;
    if (!counting && steps.filter(({ state }) => state === "done").length >= abortAfter) {
      counting = true;
      runner.abort(id, "a");
    }
    await new Promise((wake) => setTimeout(wake, 5));
  }
  await runner.close();
  store.close();`;

/** Creates such processes; `clear` removes their bundle. */
export async function rollOutStudio() {
  // In the folder of the bundles, so that the package that is not bundled is found.
  const outfile = join(process.cwd(), "dist", `rollOutStudio-${process.pid}.mjs`);
  const stdin = { contents: studio, resolveDir: import.meta.dirname, loader: "ts" } as const;
  const alias = { "@/server": join(process.cwd(), "server"), "@/solver": join(process.cwd(), "solver") };
  // As one file it starts in half the time; packages in it that call `require` get it from this line.
  const banner = { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` };
  const whole = { bundle: true, minify: true, external: ["better-sqlite3"], banner };
  await build({ ...whole, stdin, outfile, alias, platform: "node", format: "esm", logLevel: "silent" });
  return {
    run({ environment, token, gatewayAdminUrl, emulatorUrl }: TestCluster, order: RollOutToKill): ChildProcess {
      const told = JSON.stringify({ ...order, folder: environment.WEIR_STATE_DIR, token, gatewayAdminUrl, emulatorUrl });
      return spawn(process.execPath, [outfile, told], { stdio: ["ignore", "ignore", "inherit"] });
    },
    clear: () => rmSync(outfile, { force: true }),
  };
}
