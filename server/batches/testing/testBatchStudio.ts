import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { createCardStore } from "@/server/cards/cardStore";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import type { Observation } from "@/server/clusters/connector/connector";
import { createEmulatorHost } from "@/server/clusters/connector/emulatorHost";
import type { EngineHost } from "@/server/clusters/connector/engineHost";
import type { startTestCluster } from "@/server/clusters/testing/testCluster";
import { batchOfEngine } from "@/server/contracts/engine/batchEngines";
import type { EmulatedOutcomes } from "@/server/contracts/engine/emulatorAdmin";
import type { BatchRequest } from "@/server/contracts/studio/batches";
import type { Prompt } from "@/server/contracts/studio/prompts";
import type { BatchOrder, OrderedSession } from "@/server/store/documents/batchOrder";
import type { Store } from "@/server/store/store";
import { type Ensemble, ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { createBatches } from "../createBatches";

type TestCluster = Awaited<ReturnType<typeof startTestCluster>>;

/** A process that resumes the batches of a store as a studio does, over the emulated cluster. */
const studio = `
  import { createCardStore } from "@/server/cards/cardStore";
  import { appendFileSync } from "node:fs";
  import { createAdminClient } from "@/server/clusters/connector/adminClient";
  import { createEmulatorHost } from "@/server/clusters/connector/emulatorHost";
  import { openStore } from "@/server/store/store";
  import { createBatches } from "../createBatches";

  import { servedAt } from "@/server/profiling/testing/testProfileStudio";

  const { folder, token, emulatorUrl } = JSON.parse(process.argv[2]);
  const store = openStore(folder);
  const tell = (line) => appendFileSync(folder + "/engines.jsonl", JSON.stringify(line) + "\\n");
  const real = createEmulatorHost({ emulator: createAdminClient("emulator", emulatorUrl, token), heldOutOutcomes: () => null });
  // The engines' own counts of answers, read before each is ended, and the number of starts of each.
  const host = {
    ...real,
    start: (engine, options) => (tell({ started: engine.id }), real.start(engine, options)),
    async stop(id, options) {
      const found = await real.observe({});
      const engine = found.ok ? found.value.engines.find((one) => one.id === id) : undefined;
      if (engine) tell({ ended: id, ...(await servedAt(engine.url)) });
      return real.stop(id, options);
    },
  };
  const seen = () => ({ atMs: null, answer: { ok: false, message: "not looked at" } });
  const batches = createBatches({ store, cards: createCardStore(folder), clusterOf: () => ({ host, seen }) });
  batches.resumeAll();
  setInterval(() => undefined, 1000);`;

/** Creates such processes; `clear` removes their bundle. */
export async function batchStudio() {
  // In the folder of the bundles, so that the package that is not bundled is found.
  const outfile = join(process.cwd(), "dist", `batchStudio-${process.pid}.mjs`);
  const stdin = { contents: studio, resolveDir: import.meta.dirname, loader: "ts" } as const;
  const alias = { "@/server": join(process.cwd(), "server"), "@/solver": join(process.cwd(), "solver") };
  const banner = { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` };
  const whole = { bundle: true, external: ["better-sqlite3"], banner };
  await build({ ...whole, stdin, outfile, alias, platform: "node", format: "esm", logLevel: "silent" });
  return {
    run({ environment, token, emulatorUrl }: TestCluster): ChildProcess {
      const told = JSON.stringify({ folder: environment.WEIR_STATE_DIR, token, emulatorUrl });
      return spawn(process.execPath, [outfile, told], { stdio: ["ignore", "ignore", "inherit"] });
    },
    clear: () => rmSync(outfile, { force: true }),
  };
}

interface EngineLine {
  readonly started?: string;
  readonly ended?: string;
  readonly answered?: number;
}

/**
 * Requests that a batch's engines in such processes have answered by their own counts, and the number of starts of each, which include one
 * request for one token.
 */
export function answeredBy(
  { environment }: Pick<TestCluster, "environment">,
  batchId: string,
): { readonly answered: number; readonly started: number } {
  const text = readFileSync(join(environment.WEIR_STATE_DIR, "engines.jsonl"), "utf8");
  const all = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as EngineLine]));
  const lines = all.filter(({ started, ended }) => batchOfEngine(started ?? ended ?? "") === batchId.slice(0, 8));
  // Reported twice if the process was killed while it ended one.
  const byEngine = new Map(lines.flatMap(({ ended, answered = 0 }) => (ended === undefined ? [] : [[ended, answered] as const])));
  return {
    answered: [...byEngine.values()].reduce((sum, one) => sum + one, 0),
    started: lines.filter(({ started }) => started !== undefined).length,
  };
}

/** The host of a test cluster, in the form for a studio in this process. */
export const hostOf = ({ emulatorUrl, token }: Pick<TestCluster, "emulatorUrl" | "token">): EngineHost =>
  createEmulatorHost({ emulator: createAdminClient("emulator", emulatorUrl, token), heldOutOutcomes: () => null });

/** Batches over a host, in this process, observed as a studio observes its cluster. */
export function batchesOver(store: Store, host: EngineHost) {
  const observation: Observation = {
    ...{ gpu: "l40s", nodes: [], engines: [], policyModels: [], outcomes: "held-out", timeScale: 1, deviates: null, dcgmUrls: [] },
    routing: { planId: null, active: [], cordoned: [] },
  };
  const cluster = { host, seen: () => ({ atMs: 1, answer: { ok: true, value: observation } as const }) };
  return createBatches({ store, cards: createCardStore("nowhere"), clusterOf: () => cluster, loadLimitMs: 20_000 });
}

/** The cluster for batches of tests. */
export function keepCluster(store: Store, gpus = 4): void {
  const nodes = [{ name: "node1", gpus }];
  const spec = { id: "embedded", name: "Embedded", kind: "embedded", gpu: "l40s", nodes } as ClusterSpec;
  if (store.clusters.get(spec.id) === null) store.clusters.insert(spec, "2026-01-01T00:00:00.000Z");
}

/** Three experts that vote by letters, with changes. */
export const ensembleOf = (experts: readonly string[], aggregator: string, change: Partial<Ensemble> = {}): Ensemble =>
  ensembleSchema.parse({
    ...{ name: "panel", experts, expertsPerQuestion: experts.length, extraction: { kind: "choice" }, confidence: { kind: "plurality" } },
    ...{ tau: 1, aggregator: { model: aggregator }, quorum: 1, deadlineSeconds: 600 },
    ...change,
  });

export interface TestOrder {
  readonly ensemble: Ensemble;
  /** Models of each worker, in order; a model on several shares its prompts among them. */
  readonly workers: readonly (readonly string[])[];
  /** GPUs of the aggregator's engines, one each; absent: the first. */
  readonly aggregators?: readonly number[];
  readonly questions: number;
  readonly request?: Partial<BatchRequest>;
  readonly aggregatorPredicted?: BatchOrder["aggregatorPredicted"];
}

/** The order of a batch on one-GPU workers of node1, in the form that a preparation gives: all experts answer all questions. */
export function orderOf({
  ensemble,
  workers,
  aggregators = [0],
  questions,
  request = {},
  aggregatorPredicted = { loadSeconds: 10, points: [{ share: 1, seconds: 10 }], expected: null },
}: TestOrder): BatchOrder {
  const copies = (model: string) => workers.filter((models) => models.includes(model)).length;
  const dealt = new Map<string, number>();
  const sessions = workers.map((models) =>
    models.map((model): OrderedSession => {
      const share = dealt.get(model) ?? 0;
      dealt.set(model, share + 1);
      const all = Array.from({ length: questions }, (_, position) => position);
      return { model, positions: all.filter((position) => position % copies(model) === share) };
    }),
  );
  const placement = (gpu: number) => ({ node: "node1", gpus: [gpu] });
  return {
    request: {
      ...{ name: "nightly", clusterId: "embedded", promptSetId: "set", ensemble: ensemble.name, workers: workers.length, gpusPerWorker: 1 },
      ...{ maxModelsPerWorker: null, replicas: "amortised", concurrency: 8, timeoutSeconds: 60, attempts: 3 },
      ...request,
    },
    ...{ ensemble, gpu: "l40s", workers: workers.map((_, gpu) => placement(gpu)), sessions, aggregators: aggregators.map(placement) },
    ...{ schedules: [], aggregatorPredicted, emulated: true, questions, notes: [] },
  };
}

/** Questions known to emulated engines, each with its right letter if given. */
export const questionsOf = (ids: readonly string[], reference: (id: string) => string | null = () => null): readonly Prompt[] =>
  ids.map((id, at) => ({
    ...{ id, category: at % 2 === 0 ? "even" : "odd", atMs: null, reference: reference(id), test: null },
    body: { messages: [{ role: "user", content: `[prompt ${id}] Which letter?` }] },
  }));

/**
 * The letters of questions in rotation; every third question splits the experts, since the last of them is wrong. The aggregator is right.
 */
export const letterOf = (at: number): string => "ABCD"[at % 4] as string;

/** @param tokens of an answer, at least. */
export const panelOutcomes = (ids: readonly string[], experts: readonly string[], aggregator: string, tokens = 10): EmulatedOutcomes => ({
  name: "held-out",
  promptIds: [...ids],
  inputTokens: ids.map(() => 50),
  models: [...experts, aggregator].map((model) => ({
    model,
    outputTokens: ids.map((_, at) => tokens + (at % 7)),
    label: ids.map(() => 100),
    judged: ids.map(() => 50),
    answer: ids.map((_, at) => letterOf(model === experts.at(-1) && at % 3 === 0 ? at + 1 : at)),
  })),
});
