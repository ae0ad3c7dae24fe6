import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { startTestCluster } from "@/server/clusters/testing/testCluster";
import type { EmulatedOutcomes } from "@/server/contracts/engine/emulatorAdmin";
import { type EmulatedCluster, type EngineRequest, emulatedClusterSchema } from "@/server/contracts/engine/emulatorAdmin";
import type { ProfileRequest, Prompt, PromptSet } from "@/server/contracts/studio";
import { promptText } from "@/server/load/promptText";
import type { Store } from "@/server/store/store";
import type { Workload } from "@/solver/workload/workload";

type TestCluster = Awaited<ReturnType<typeof startTestCluster>>;

/** A process that resumes the profiles of a store as a studio does, over the emulated cluster. */
const studio = `
  import { createProfileService } from "@/server/api/profiling/profileService";
  import { createCardStore } from "@/server/cards/cardStore";
  import { createAdminClient } from "@/server/clusters/connector/adminClient";
  import { createConnector } from "@/server/clusters/connector/clusterConnector";
  import { createEmulatorHost } from "@/server/clusters/connector/emulatorHost";
  import { orderSigner, studioKey } from "@/server/lib/studioKey";
  import { openStore } from "@/server/store/store";

  const { folder, token, gatewayAdminUrl, emulatorUrl } = JSON.parse(process.argv[2]);
  const store = openStore(folder);
  const connector = createConnector({
    host: createEmulatorHost({ emulator: createAdminClient("emulator", emulatorUrl, token), heldOutOutcomes: () => null }),
    gateway: createAdminClient("gateway", gatewayAdminUrl, token, { clusterId: "embedded", sign: orderSigner(studioKey(folder)) }),
    planOf: () => null,
  });
  let answer = { ok: false, message: "not looked at yet" };
  const look = async () => {
    answer = await connector.observe();
    setTimeout(look, 200);
  };
  await look();
  const cluster = { kind: "embedded", seen: () => ({ atMs: Date.now(), answer }), timeScale: () => (answer.ok ? answer.value.timeScale : 1) };
  createProfileService({
    store,
    uploads: null,
    cards: createCardStore(folder),
    clusterOf: () => cluster,
    arrivals: null,
    sourceOf: null,
    unitTests: { problem: async () => null, passes: async () => null },
    limits: { placeMs: 3000 },
  });`;

/** Makes such processes; `clear` removes their bundle. */
export async function profileStudio() {
  // Among the bundles, so that the package that is not in it is found.
  const outfile = join(process.cwd(), "dist", `profileStudio-${process.pid}.mjs`);
  const stdin = { contents: studio, resolveDir: import.meta.dirname, loader: "ts" } as const;
  const alias = { "@/server": join(process.cwd(), "server"), "@/solver": join(process.cwd(), "solver") };
  const banner = { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` };
  const whole = { bundle: true, external: ["better-sqlite3"], banner };
  await build({ ...whole, stdin, outfile, alias, platform: "node", format: "esm", logLevel: "silent" });
  return {
    run({ environment, token, gatewayAdminUrl, emulatorUrl }: TestCluster): ChildProcess {
      const told = JSON.stringify({ folder: environment.WEIR_STATE_DIR, token, gatewayAdminUrl, emulatorUrl });
      return spawn(process.execPath, [outfile, told], { stdio: ["ignore", "ignore", "inherit"] });
    },
    clear: () => rmSync(outfile, { force: true }),
  };
}

/** The emulator of a cluster, asked directly. */
export function emulatorOf({ emulatorUrl, token }: TestCluster) {
  const call = async (method: string, path: string, body?: unknown): Promise<Response> => {
    const answer = await fetch(emulatorUrl + path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const read = async (): Promise<EmulatedCluster> => emulatedClusterSchema.parse(await (await call("GET", "/cluster")).json());
  return {
    read,
    replay: (outcomes: EmulatedOutcomes) => call("PUT", "/outcomes", outcomes),
    /** Brings an engine of each model up on GPUs of the node, and waits until they take requests. */
    async up(models: Readonly<Record<string, readonly number[]>>): Promise<void> {
      for (const [model, gpus] of Object.entries(models)) {
        const engine: EngineRequest = {
          id: model,
          model,
          gpu: "l40s",
          tp: gpus.length,
          pp: 1,
          placements: [{ node: "node1", gpus: [...gpus] }],
        };
        await call("POST", "/engines", engine);
      }
      await until(async () => (await read()).engines.every(({ state }) => state === "ready"));
    },
    down: (id: string) => call("DELETE", `/engines/${id}?graceSeconds=0`),
  };
}

/** Requests that a server has answered and given up, by its own counters. */
export async function servedAt(url: string): Promise<{ readonly answered: number; readonly abandoned: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = [...text.matchAll(/^vllm:request_success_total\{[^}]*finished_reason="(\w+)"[^}]*\} (\d+)/gm)];
  const of = (aborted: boolean) =>
    lines.reduce((sum, [, reason, count]) => ((reason === "abort") === aborted ? sum + Number(count) : sum), 0);
  return { answered: of(false), abandoned: of(true) };
}

export async function until(holds: () => boolean | Promise<boolean>, limitMs = 40_000): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error("waited in vain");
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

/** The whole table of a workload as the emulator replays it. */
export const outcomesOf = ({ name, outcomes }: Workload): EmulatedOutcomes => ({
  name,
  promptIds: [...outcomes.promptIds],
  inputTokens: [...outcomes.inputTokens],
  models: outcomes.models.map(({ model, outputTokens, label, judged }) => ({
    model,
    outputTokens: [...outputTokens],
    label: [...label],
    judged: [...judged],
  })),
});

/** Keeps prompts as a sample; its id. */
export function keepPrompts(store: Store, prompts: readonly Prompt[]): string {
  const set: Omit<PromptSet, "deleted"> = {
    ...{ id: "set", name: "prompts of a test", createdAt: "2026-01-01T00:00:00.000Z", actor: "a", from: "a test", skipped: 0, strata: [] },
    ...{ population: prompts.length, prompts: prompts.length, interval: { confidence: 0.9, points: 5 }, meanCharacters: 400 },
    withReference: prompts.filter(({ reference }) => reference !== null).length,
    ...{ withTest: 0, multiTurn: 0, withTools: 0, expiresAt: null },
  };
  store.prompts.insert(set, prompts);
  return set.id;
}

/** Prompts that emulated engines know. */
export const promptsOf = ({ outcomes: { promptIds, inputTokens } }: Workload): readonly Prompt[] =>
  promptIds.map((id, at) => ({
    ...{ id, category: at % 2 === 0 ? "even" : "odd", atMs: null, reference: null, test: null },
    body: { messages: [{ role: "user", content: promptText(id, inputTokens[at] ?? 1) }], max_tokens: 8192 },
  }));

/** A running job, as if a user had just started it; without columns for gates unless it names them. */
export function keepProfile(
  store: Store,
  promptSetId: string,
  request: Omit<ProfileRequest, "promptSetId" | "name" | "gates"> & Partial<Pick<ProfileRequest, "gates">>,
): string {
  const [id, createdAt] = ["job", "2026-01-01T00:00:00.000Z"];
  const whole = { gates: { confidence: false, samples: null }, ...request, promptSetId, name: "a job" };
  store.profiles.insert({ id, createdAt, actor: "a", promptSetId, request: whole, state: "running", pause: null });
  return id;
}
