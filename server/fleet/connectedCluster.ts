import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import { createConnector } from "@/server/clusters/connector/clusterConnector";
import type { Answer, Observation, ObservedEngine } from "@/server/clusters/connector/connector";
import { createGatewayAudit } from "@/server/clusters/connector/gatewayAudit";
import { silentModels } from "@/server/clusters/connector/silentModels";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import type { KeyReference } from "@/server/contracts/engine/engineAccess";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { ClusterSummary, LiveFrame } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import type { SignOrder } from "@/server/lib/studioKey";
import { keepFrames } from "@/server/series/keepFrames";
import { createSeriesBook, type SeriesBookState } from "@/server/series/seriesBook";
import type { SeriesSource } from "@/server/series/seriesSource";
import type { Store } from "@/server/store/store";
import { type Collector, createCollector } from "@/server/telemetry/collector";
import type { Target } from "@/server/telemetry/engineTarget";
import type { ScrapeFacts } from "@/server/telemetry/studioMetrics";
import type { Plan } from "@/solver/plan/plan";
import { keepIdentities } from "./engineIdentities";
import type { ConnectedCluster } from "./fleet";

/** A roll-out is observed once a second. */
const watchIntervalMs = 1_000;

/** Looks have a time limit and are a second apart: an older observation does not describe the present. */
const staleMs = 10_000;

/** A gateway that is just not started refuses at once. */
const adviceLimitMs = 1_000;

export interface ConnectedClusterParts extends Pick<ConnectedCluster, "id" | "kind" | "host" | "gatewayUrl" | "gatewayAdminUrl"> {
  readonly store: Store;
  /** Token of the gateway's admin listener: the token itself, or a reference to it. */
  readonly adminToken: string | KeyReference;
  /** Signs orders to the gateway. */
  readonly sign: SignOrder;
  readonly scrapeIntervalMs: number;
  /** Called for every scrape. */
  readonly onScrape: (facts: ScrapeFacts) => void;
  /** Quality label of an answer, if known. */
  readonly labelOf: (decision: Decision) => number | null;
  /** Saves its observed hardware. */
  readonly saveObservation: (observation: Observation) => void;
  /** What a user must do so that there is a gateway, if none can be reached; null if nothing is required. */
  readonly gatewayAdvice: (() => string | null) | null;
  /** Source of charts, if it is not the studio's own store. */
  readonly seriesOf: ((cluster: Pick<ConnectedCluster, "engines" | "collector" | "timeScale" | "gatewayAdminUrl">) => SeriesSource) | null;
}

/** A watched cluster, with its stored data. */
export interface WatchedCluster extends ConnectedCluster {
  seriesState(): SeriesBookState;
}

/** Starts to watch a cluster: observed once a second, its engines and its gateway measured from the first observation on. */
export function connectCluster(parts: ConnectedClusterParts): WatchedCluster {
  const { id, store, host, gatewayAdminUrl, adminToken, labelOf, scrapeIntervalMs: intervalMs, onScrape } = parts;
  const gateway = createAdminClient("gateway", gatewayAdminUrl, adminToken, { clusterId: id, sign: parts.sign });
  const connector = createConnector({
    host,
    gateway,
    planOf: (planId) => store.plans.get(planId),
    artefactOf: (hash) => store.artefacts.get(hash)?.bytes ?? null,
    silentModels: () => silentModels(store, id),
  });
  const audit = createGatewayAudit({ store, clusterId: id, gateway });
  const book = createSeriesBook({ clusterId: id, repository: store.rollUps, intervalMs });
  const ending = new AbortController();
  const beganMs = Date.now();
  let atMs: number | null = null;
  let latest: Answer<Observation> = { ok: false, message: "It has not been looked at yet." };
  let known: Observation | null = null;
  let collector: Collector | null = null;
  let kept: Promise<unknown> = Promise.resolve();

  const engines = (): readonly Target[] => (known?.engines ?? []).map(watchedTarget);
  const timeScale = (): number => known?.timeScale ?? 1;

  function collect({ dcgmUrls, timeScale: scale }: Observation): Collector {
    const asked = { targets: engines, dcgmUrls, gatewayAdminUrl, adminToken };
    const begun = createCollector({ clusterId: id, ...asked, timeScale: scale, intervalMs, labelOf, onScrape });
    const frames = () => begun.follow(ending.signal, 0);
    kept = Promise.all([
      keepIdentities(frames(), store.identities),
      keepFrames(frames(), { book, cluster: () => store.clusters.get(id)?.spec ?? null }),
    ]);
    return begun;
  }

  /** Why the programs beside the engines cannot be looked after; null: they are. The cluster is observed all the same. */
  function keepBeside(): string | null {
    try {
      host.keep?.();
      return null;
    } catch (error) {
      return `Programs beside the engines cannot be looked after: ${reasonOf(error)}.`;
    }
  }

  async function look(): Promise<void> {
    const missing = keepBeside();
    const answer = await connector.observe();
    const advised = answer.ok ? answer : await withAdvice(answer);
    if (ending.signal.aborted) return;
    atMs = Date.now();
    latest = advised.ok && missing !== null ? { ok: true, value: { ...advised.value, faults: [missing] } } : advised;
    if (!answer.ok) return;
    if (known === null || !isDeepStrictEqual([known.gpu, known.nodes], [answer.value.gpu, answer.value.nodes]))
      parts.saveObservation(answer.value);
    known = answer.value;
    collector ??= collect(answer.value);
  }

  /** Its last observation, unless that is too old. */
  function seen(): ReturnType<ConnectedCluster["seen"]> {
    const sinceMs = atMs ?? beganMs;
    const quietMs = Date.now() - sinceMs;
    if (quietMs < staleMs) return { atMs, answer: latest };
    const message = `It has not been seen for ${Math.round(quietMs / 1000)} s: the last look at it has not come back.`;
    return { atMs: sinceMs, answer: { ok: false, message } };
  }

  /** Why it cannot be observed, with the remedy if the only problem is that its gateway is not running. */
  async function withAdvice(refused: Extract<Answer<Observation>, { ok: false }>): Promise<Answer<Observation>> {
    const advice = parts.gatewayAdvice?.() ?? null;
    if (advice === null) return refused;
    const heard = await gateway("/status", { schema: z.unknown(), limitMs: adviceLimitMs });
    const isMissing = !heard.ok && heard.failure === "unreachable";
    return isMissing ? { ...refused, message: `${refused.message} ${advice}` } : refused;
  }

  let timer: NodeJS.Timeout | undefined;
  const keepLooking = async (): Promise<void> => {
    await look().catch((error: unknown) => {
      atMs = Date.now();
      latest = { ok: false, message: `It cannot be looked at: ${reasonOf(error)}.` };
    });
    if (!ending.signal.aborted) timer = setTimeout(keepLooking, watchIntervalMs);
  };
  void keepLooking();

  function health(): ClusterSummary["health"] {
    const runningPlanId = store.clusters.get(id)?.runningPlanId ?? null;
    const isAtWork = store.applications.open().some(({ clusterId, state }) => clusterId === id && state !== "paused");
    const plan = runningPlanId === null || isAtWork ? null : store.plans.get(runningPlanId);
    const batch = store.batches.runningOn(id);
    return clusterHealth({ latest: seen().answer, runningPlanId, plan, batch, heard: collector?.frames().at(-1)?.engines ?? [] });
  }

  return {
    ...{ id, kind: parts.kind, host, connector, gateway, gatewayUrl: parts.gatewayUrl, gatewayAdminUrl, audit },
    series: parts.seriesOf?.({ engines, timeScale, gatewayAdminUrl, collector: () => collector }) ?? book,
    seriesState: () => book.state(),
    seen,
    health,
    timeScale,
    deviates: () => known?.deviates ?? true,
    panic: () => collector?.routing()?.controls?.panic ?? null,
    engines,
    collector: () => collector,
    async close() {
      ending.abort();
      clearTimeout(timer);
      audit.close();
      collector?.close();
      await kept;
      await book.close();
    },
  };
}

interface HealthGround {
  readonly latest: Answer<Observation>;
  /** The plan applied last, whether or not it is saved; null: none. */
  readonly runningPlanId: string | null;
  /** That plan; null if it is not saved, or if a roll-out is changing its engines. */
  readonly plan: Plan | null;
  /** Name of the batch that runs there; null: none. */
  readonly batch: string | null;
  /** Engines in the last telemetry. */
  readonly heard: LiveFrame["engines"];
}

/** The state of a cluster with its reason: whether it can be observed, and whether all engines that should serve exist and answer. */
export function clusterHealth({ latest, runningPlanId, plan, batch, heard }: HealthGround): ClusterSummary["health"] {
  if (!latest.ok) return { state: "down", reason: latest.message };
  const { routing, engines, faults: [fault] = [] } = latest.value;
  const wanted = new Set([...routing.active, ...(plan === null ? [] : targetEngines(plan).map(({ id }) => id))]);
  const missing = [...wanted].filter((id) => !engines.some((engine) => engine.id === id));
  if (missing.length > 0) return { state: "degraded", reason: `${missing.join(", ")} should serve and is gone.` };
  if (routing.planId !== runningPlanId) return { state: "degraded", reason: "The gateway follows another plan than the one applied last." };
  const silent = heard.filter(({ id, state }) => state === "unreachable" && routing.active.includes(id)).map(({ id }) => id);
  if (silent.length > 0) return { state: "degraded", reason: `${silent.join(", ")} should serve and does not answer.` };
  if (fault !== undefined) return { state: "degraded", reason: fault };
  const serving = routing.active.length === 1 ? "One engine serves." : `${routing.active.length} engines serve.`;
  const inForce = routing.planId === null ? "No plan is in force." : serving;
  return { state: "up", reason: batch === null ? inForce : `${inForce} The batch "${batch}" runs here.` };
}

/** An engine of a cluster as a telemetry target, with its credentials. */
export function watchedTarget({ id, model, url, placements, access: { key, caFile } = {} }: ObservedEngine): Target {
  const gpus = placements.flatMap(({ node, gpus }) => gpus.map((index) => ({ node, index })));
  return { id, model, url, gpus, ...((key !== undefined || caFile !== undefined) && { access: { key, caFile } }) };
}
