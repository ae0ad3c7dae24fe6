import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { catalogueIn } from "@/server/contracts/engine/cardsFile";
import type { EmulatedCluster, EmulatedEngine, EngineRequest } from "@/server/contracts/engine/emulatorAdmin";
import { listen, listenFrom, shut } from "@/server/contracts/http/apiServer";
import { modelPerturbation } from "@/solver/calibration/modelPerturbation";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { createEngine, type Engine } from "./emulatedEngine";
import { engineFit, gpuKeys } from "./engineFit";
import { createGpuTelemetry, type GpuTelemetry } from "./gpuTelemetry";
import { createJudgeServer, JUDGE_MODEL } from "./judgeServer";
import { createOutcomeBook, type OutcomeTable } from "./outcomeTable";
import type { Settings } from "./settings";
import type { StateStore } from "./stateStore";

/** Outcome of a requested change; the status is HTTP's. */
export type Change<Done extends object> =
  | ({ readonly ok: true } & Done)
  | { readonly ok: false; readonly status: 400 | 404 | 409; readonly message: string };

/** All emulated engines, their judge and their GPUs. */
export interface Cluster {
  readonly gpus: GpuTelemetry;
  describe(): EmulatedCluster;
  start(request: EngineRequest): Promise<Change<{ readonly engine: EmulatedEngine }>>;
  /** Resolves when the engine is gone and its GPUs are free. */
  stop(id: string, graceSeconds: number): Promise<Change<object>>;
  putOutcomes(body: unknown): Change<object>;
  /** Ends everything at once, including open streams. The list of running engines is saved. */
  shutDown(): Promise<void>;
}

/** Bytes of weights a GPU loads in a second from a local disk: the order of one NVMe drive. */
const LOAD_BYTES_PER_SECOND = 2e9;

/** Minimum wall time of loading, even for a small model at a high time scale, so that loading is visible. */
const MIN_LOAD_MS = 1000;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const urlOf = (server: Server): string => `http://127.0.0.1:${portOf(server)}`;

/** Starts the judge and the engines of the last run, each on its former port if that is free. */
export async function createCluster(settings: Settings, store: StateStore): Promise<Cluster> {
  const { cluster, timeScale, noise } = settings;
  const engines = new Map<string, Engine>();
  /** Ports reserved for engines that are still to be restarted. */
  const promised = new Set<number>();
  let book: OutcomeTable | null = restoreOutcomes(store);

  const listenAt = async (server: Server, port: number | null): Promise<void> => {
    if (port !== null) promised.delete(port);
    if (port !== null && (await listen(server, port)) !== undefined) return;
    await listenFrom(server, settings.enginePortBase, promised);
  };

  const save = (): void =>
    store.writeState({
      judgePort: portOf(judge),
      engines: [...engines.values()].map(({ request, server }) => ({ ...request, port: portOf(server) })),
    });

  const startEngine = async (request: EngineRequest, port: number | null): Promise<Change<{ readonly engine: Engine }>> => {
    // Read again: the user may have added the model since the start.
    const { catalogue, problem } = catalogueIn(settings.stateDir);
    const fit = engineFit(cluster, request, catalogue);
    if (!fit.ok) return { ok: false, status: 400, message: problem === null ? fit.message : `${fit.message} ${problem}` };
    if (engines.has(request.id)) return { ok: false, status: 409, message: `There is an engine "${request.id}" already.` };
    for (const key of gpuKeys(request)) {
      const holder = [...engines.values()].find((engine) => gpuKeys(engine.request).includes(key));
      if (holder !== undefined) return { ok: false, status: 409, message: `GPU ${key} is held by engine "${holder.request.id}".` };
    }
    const { replica } = fit;
    const engine = createEngine({
      request,
      replicaModel: noise.enabled ? modelPerturbation(replica, vllmProfile.errors, { seed: noise.seed, engineId: request.id }) : replica,
      maxModelTokens: fit.maxModelTokens,
      timeScale,
      // The GPUs of a replica load in parallel.
      loadMs: Math.max(MIN_LOAD_MS, (fit.weightBytesPerGpu / LOAD_BYTES_PER_SECOND / timeScale) * 1000),
      outcomes: () => book,
    });
    // Before anything is awaited: its GPUs are occupied from here on.
    engines.set(request.id, engine);
    await listenAt(engine.server, port);
    return { ok: true, engine };
  };

  const judge = createJudgeServer({ timeScale, noise, outcomes: () => book });
  const gpus = createGpuTelemetry(cluster, settings.gpu, () => engines.values());

  const before = store.readState();
  for (const { port } of before.engines) promised.add(port);
  await listenAt(judge, before.judgePort);
  for (const { port, ...request } of before.engines) {
    const back = await startEngine(request, port);
    if (!back.ok) process.stderr.write(`Engine ${request.id} cannot be restored: ${back.message}\n`);
  }
  save();

  return {
    gpus,
    describe: () => ({
      gpu: cluster.gpu,
      nodes: [...cluster.nodes],
      timeScale,
      noise,
      judge: { model: JUDGE_MODEL, url: urlOf(judge) },
      dcgmUrl: `http://127.0.0.1:${settings.dcgmPort}/metrics`,
      outcomes: book === null ? null : { name: book.outcomes.name, prompts: book.outcomes.promptIds.length },
      engines: [...engines.values()].filter((engine) => engine.server.listening).map(describeEngine),
    }),
    async start(request) {
      const up = await startEngine(request, null);
      if (!up.ok) return up;
      save();
      return { ok: true, engine: describeEngine(up.engine) };
    },
    async stop(id, graceSeconds) {
      const engine = engines.get(id);
      if (engine === undefined) return { ok: false, status: 404, message: `There is no engine "${id}".` };
      await engine.stop(graceSeconds);
      if (engines.get(id) === engine) {
        engines.delete(id);
        save();
      }
      return { ok: true };
    },
    putOutcomes(body) {
      const result = createOutcomeBook(body);
      if (!result.ok) return { ok: false, status: 400, message: result.message };
      store.writeOutcomes(result.book.outcomes);
      book = result.book;
      return { ok: true };
    },
    async shutDown() {
      gpus.stop();
      await Promise.all([...[...engines.values()].map((engine) => engine.stop(0)), shut(judge)]);
    },
  };
}

function describeEngine(engine: Engine): EmulatedEngine {
  return { ...engine.request, url: urlOf(engine.server), state: engine.state, ...engine.load() };
}

function restoreOutcomes(store: StateStore): OutcomeTable | null {
  const kept = store.readOutcomes();
  if (kept === null) return null;
  const result = createOutcomeBook(kept);
  if (!result.ok) throw new Error(`The outcomes kept by the emulator are not usable (${result.message}): remove emulator-outcomes.json.`);
  return result.book;
}
