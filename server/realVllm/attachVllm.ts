import { randomUUID } from "node:crypto";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { addonsFolder } from "@/server/addons/addonFolder";
import { createAddonKeeper } from "@/server/addons/addonKeeper";
import { createCardStore } from "@/server/cards/cardStore";
import { judgePorts, judgePrograms, noJudgePorts } from "@/server/confidenceJudge/judgePrograms";
import type { Outcome } from "@/server/contracts/studio";
import { createHost } from "@/server/fleet/createHost";
import { observedHardware } from "@/server/fleet/observedHardware";
import { createJudgeMonitor } from "@/server/judges/judgeMonitor";
import type { ProcessConnection } from "@/server/processes/processConnection";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import { withRealModelCards } from "@/server/realModels/realModelCards";
import { lockStateFolder } from "@/server/store/lockStateFolder";
import { openStore } from "@/server/store/store";
import { withProcessorCard } from "@/solver/hardware/processorCard";
import { clusterSpecSchema } from "@/solver/plan/clusterSpec";
import { askModels } from "./askModels";
import { measureVllm } from "./measureVllm";
import { vllmConnection } from "./vllmConnection";

/** The cluster's name on every page. */
const vllmClusterName = "vLLM on this computer";

/** The add-on with the engine of the judge. */
const judgeEngine = "real-engine";

/** A cascade has two engines, each on a core of its own. */
const leastCores = 2;

/** Less than one core sustains, at a quality that the small model does not reach alone. */
const suggestedTraffic = { requestsPerSecond: 5, qualityFloor: 90 } as const;

export interface VllmParts {
  /** Path of vLLM's program. */
  readonly program: string;
  readonly stateDir: string;
  /** The folder of Weir, with `dist` and `models`. */
  readonly root: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether vLLM is measured where it was not before, which takes minutes. */
  readonly measures: boolean;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/**
 * Makes the two real models, their cards, a workload that they answered, a cluster of processes that starts vLLM with them and a profile of
 * its speed, before a studio of that folder starts. What is there already stays, with its id and plans; only the connection is written again.
 * No engine is left running: plans start them. Without a measurement it goes on, and says so.
 *
 * @returns the cluster's id; or one sentence: too few cores, weights that are missing, cards that cannot be read, models that do not answer.
 * @throws Error with one sentence if another studio uses the folder, or an engine of the questions does not start; the signal's reason.
 */
export async function attachVllm(parts: VllmParts): Promise<Outcome<{ readonly id: string }>> {
  const { program, stateDir, root, environment, measures, signal, say } = parts;
  const cores = availableParallelism();
  if (cores < leastCores)
    return { ok: false, message: `This computer has ${cores} core; two engines need ${leastCores}: use \`npm run studio\`.` };
  say("Writing the models' files ...");
  const prepared = await prepareRealModels(join(stateDir, "real-models"), ["hugging-face", "gguf"], join(root, "models"));
  if (!prepared.ok) return prepared;
  const cards = createCardStore(stateDir);
  const carded = cards.change((own) => withProcessorCard(withRealModelCards(own), totalmem()));
  if (!carded.ok) return carded;
  const folders = Object.fromEntries(
    prepared.models.flatMap(({ name, huggingFace }) => (huggingFace === null ? [] : [[name, huggingFace]])),
  );
  const file = prepared.models[0]?.trainedGguf ?? "";
  const unlock = lockStateFolder(stateDir);
  const store = openStore(stateDir);
  try {
    const row = store.clusters.list().find(({ spec }) => spec.name === vllmClusterName);
    const id = row?.id ?? randomUUID();
    const others = store.clusters.list().flatMap((one) => (one.id === id ? [] : [one.connection]));
    const judged = await judgeOf({ ...parts, file, own: row?.connection ?? null, others });
    const connection = vllmConnection({ program, folders, cores, ...judged });
    const gpuCards = () => cards.read().catalogue.gpus;
    const host = createHost(connection, { clusterId: id, stateDir, environment, gpuCards });
    if (!host.ok) return host;
    const seen = await host.value.observe({});
    if (!seen.ok) return seen;
    const spec = clusterSpecSchema.parse({ id, name: vllmClusterName, kind: "processes", ...observedHardware(seen.value, () => 0) });
    const at = new Date().toISOString();
    const isNew = row === undefined || !isDeepStrictEqual(row.connection, connection);
    const write = (): void => {
      if (row === undefined) store.clusters.insert(spec, at, { connection, gateway: null });
      else {
        store.clusters.respecify(spec);
        store.clusters.setConnection(id, connection);
      }
      const about = { objectKind: "cluster", objectId: id, clusterId: id } as const;
      const detail = `processes: ${cores} cores, vLLM at ${program}`;
      store.audit.add({ at, actor: "weir", action: "attach cluster", subject: vllmClusterName, detail, ...about });
    };
    if (isNew) store.atomically(write);
    const suggested = row?.suggested ? store.workloads.summary(row.suggested.workloadId) : null;
    const judgeUrl = connection.judge?.url;
    if (judgeUrl !== undefined && (suggested?.profileId ?? null) === null) {
      say("Asking both models questions of arithmetic, for a workload ...");
      const ground = { store, cards, stateDir, root, addons: addonsFolder(environment), signal };
      const asked = await askModels({ ...ground, models: prepared.models, judgeUrl, programs: host.value });
      if (!asked.ok) return asked;
      store.clusters.suggest(id, { workloadId: asked.workloadId, ...suggestedTraffic });
      // It runs by now. Plans would otherwise assume a time of a call, which is far above that of so small a judge.
      const judges = createJudgeMonitor({ store, clusterOf: () => null });
      await judges.measure(id);
      judges.close();
    }
    const models = prepared.models.map(({ name }) => name);
    say(await measureVllm({ store, cards, stateDir, host: host.value, models, measures, signal, say }));
    return { ok: true, id };
  } finally {
    store.close();
    unlock();
  }
}

interface JudgeNeeds extends VllmParts {
  readonly file: string;
  /** Stored connections of the cluster and of others. */
  readonly own: unknown;
  readonly others: readonly unknown[];
}

/** The judge, if its engine can be installed: without one, plans of one model can be applied. */
async function judgeOf({
  root,
  environment,
  file,
  signal,
  say,
  own,
  others,
}: JudgeNeeds): Promise<Partial<Pick<ProcessConnection, "judge" | "beside">>> {
  const folder = addonsFolder(environment);
  const keeper = createAddonKeeper(folder);
  const bytes = keeper.list().find(({ name }) => name === judgeEngine)?.bytes ?? 0;
  say(`Looking for the judge's engine, and installing it where it is missing (${Math.round(bytes / 1e6)} MB on disk) ...`);
  const state = await keeper.install(judgeEngine, { signal });
  signal.throwIfAborted();
  const ports = state.kind === "ready" ? await judgePorts(own, others) : null;
  if (ports !== null) return judgePrograms({ root, node: process.execPath, addonsFolder: folder, file, ports });
  const failed = state.kind === "failed" ? state.reason : "its engine is not installed";
  const why = state.kind === "unsupported" ? state.message : state.kind === "ready" ? noJudgePorts : failed;
  say(`There is no judge, so that only plans of one model can be applied: ${why.replace(/\.$/, "")}.`);
  return {};
}
