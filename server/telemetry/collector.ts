import { hostname } from "node:os";
import { isDeepStrictEqual } from "node:util";
import type { KeyReference } from "@/server/contracts/engine/engineAccess";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { MirrorSample } from "@/server/contracts/gateway/gatewayControls";
import type { GpuSourceFrame, LiveFrame, MeasuredRange, ServingModel } from "@/server/contracts/studio";
import { isLoopback } from "@/server/lib/clientAddress";
import { mixSeed } from "@/solver/numeric/random";
import { type Clock, systemClock } from "./clock";
import type { AskedRange } from "./decisionWindow";
import { createEngineTarget, type EngineTarget, type Target } from "./engineTarget";
import { createGatewayWatch } from "./gatewayWatch";
import { createGpuTarget, type GpuTarget } from "./gpuTarget";
import { modelFrames } from "./modelFrames";
import { createScrapeLane } from "./scrapeLane";
import type { ScrapeFacts } from "./studioMetrics";

export interface CollectorOptions {
  readonly clusterId: string;
  /** The present engines; called in every round, so that a roll-out is followed. */
  readonly targets: () => readonly Target[];
  /** URLs of dcgm-exporters' texts. Without any, nvidia-smi is used, if all engines run on this host and it is installed. */
  readonly dcgmUrls: readonly string[];
  readonly gatewayAdminUrl: string;
  /** The token itself, or a reference to it. */
  readonly adminToken: string | KeyReference;
  /** Engine seconds per wall second. */
  readonly timeScale: number;
  /** Half a second to five in practice. */
  readonly intervalMs?: number;
  readonly clock?: Clock;
  /** Quality label of an answer, if the cluster's prompts have one; absent quality stays null. */
  readonly labelOf?: (decision: Decision) => number | null;
  /** Called for every scrape: engines, GPUs, the gateway. */
  readonly onScrape?: (facts: ScrapeFacts) => void;
}

/** Live telemetry of one cluster. */
export interface Collector {
  /** The last ten minutes at most, oldest first. */
  frames(): readonly LiveFrame[];
  /** The gateway's routing, as last known; null before its first answer. */
  routing(): LiveFrame["gateway"]["routing"];
  /** Models with engines at the gateway, as last known; null before its first answer. */
  models(): readonly ServingModel[] | null;
  /** Reads the gateway now instead of in the next round. */
  askGateway(): Promise<void>;
  /** Frames later than `afterMs` (now, if not given), then each new one, until the signal aborts or the collector closes. */
  follow(signal: AbortSignal, afterMs?: number): AsyncGenerator<LiveFrame>;
  /** The measurements in a range of time under the plan and policy in force. */
  over(range: AskedRange): MeasuredRange;
  /** The gateway's decisions, newest first. */
  decisions(limit: number): readonly Decision[];
  /** Requests that the gateway's mirror sent through all models, oldest first. */
  mirrored(): readonly MirrorSample[];
  /** Restarts the measuring window: a load run or an application begins. */
  beginWindow(): void;
  close(): void;
}

type Scraped = Pick<EngineTarget, "poll" | "isDue" | "isFailing">;

/** Ten minutes at one a second. */
const KEPT_FRAMES = 600;

/** Scrapes of one round are spread over this part of the interval, so that texts of many engines are not parsed all at once. */
const JITTER_SHARE = 0.5;

/**
 * Most concurrent scrapes: enough that a few dozen engines may fall silent in one round without delaying the others. Targets that failed
 * before have their own lane, and cannot delay those that answer.
 */
const LANES = { answering: 32, failing: 8 };

/**
 * Starts collecting: every round scrapes each engine, the GPUs and the gateway independently, and combines what is known by then in one
 * frame.
 */
export function createCollector(options: CollectorOptions): Collector {
  const { clusterId, timeScale, intervalMs = 1000, clock = systemClock, onScrape = () => undefined } = options;
  const watched = new Map<string, { readonly target: Target; readonly engine: EngineTarget }>();
  const lanes = { answering: createScrapeLane(LANES.answering), failing: createScrapeLane(LANES.failing) };
  const busy = new Set<Scraped>();
  let gpuTargets: readonly GpuTarget[] = [];
  const gateway = createGatewayWatch({ ...options, adminUrl: options.gatewayAdminUrl, intervalMs, clock, onScrape });
  const ring: LiveFrame[] = [];
  const wakeUps = new Set<() => void>();
  const delays = new Set<NodeJS.Timeout>();
  let closed = false;

  const soon = (id: string, begin: () => void): void => {
    const delayMs = (mixSeed(id) / 2 ** 32) * JITTER_SHARE * intervalMs;
    const delay = setTimeout(() => {
      delays.delete(delay);
      begin();
    }, delayMs);
    delays.add(delay);
  };

  /** Skips targets with a scrape in progress, or that failed and are not due yet. */
  const scrapeSoon = (id: string, one: Scraped): void =>
    soon(id, () => {
      if (busy.has(one) || !one.isDue()) return;
      busy.add(one);
      void lanes[one.isFailing() ? "failing" : "answering"](async () => {
        if (!closed) await one.poll();
      }).finally(() => busy.delete(one));
    });

  const refreshTargets = (): void => {
    const targets = options.targets();
    const ids = new Set(targets.map((target) => target.id));
    for (const id of watched.keys()) if (!ids.has(id)) watched.delete(id);
    for (const target of targets) {
      const known = watched.get(target.id)?.target;
      const same = known?.url === target.url && known.model === target.model;
      if (same && isDeepStrictEqual(known.access, target.access)) continue;
      watched.set(target.id, { target, engine: createEngineTarget(target, { intervalMs, timeScale, clock, onScrape }) });
    }
    if (gpuTargets.length === 0) gpuTargets = watchGpus();
  };

  /** The only node on which engines run. */
  const onlyNode = (): string | null => {
    const nodes = new Set([...watched.values()].flatMap(({ target }) => target.gpus.map(({ node }) => node)));
    return nodes.size === 1 ? ([...nodes][0] ?? null) : null;
  };

  const watchGpus = (): readonly GpuTarget[] => {
    const { dcgmUrls } = options;
    const how = { intervalMs, clock, onScrape };
    if (dcgmUrls.length > 0) {
      return dcgmUrls.map((url) => {
        // With several exporters, each is on another node.
        const node = () => (dcgmUrls.length === 1 ? onlyNode() : null) ?? new URL(url).hostname;
        return createGpuTarget({ kind: "dcgm-exporter", url }, { ...how, node });
      });
    }
    const here = [...watched.values()].map(({ target }) => isLoopback(new URL(target.url).hostname));
    if (here.length === 0 || here.includes(false)) return [];
    return [createGpuTarget({ kind: "nvidia-smi", command: "nvidia-smi" }, { ...how, node: () => onlyNode() ?? hostname() })];
  };

  const gpuFrames = (): Pick<LiveFrame, "gpus" | "gpuSources"> => {
    const holder = new Map<string, string>();
    for (const { target } of watched.values()) for (const gpu of target.gpus) holder.set(`${gpu.node}/${gpu.index}`, target.id);
    const told = gpuTargets.map((target) => target.frame());
    const gpus = new Map<string, LiveFrame["gpus"][number]>();
    // If two sources report a GPU, the fresh one is used.
    for (const { gpus: readings, source } of told.toSorted((a, b) => Number(isFresh(a.source)) - Number(isFresh(b.source)))) {
      for (const gpu of readings) {
        const engineId = holder.get(`${gpu.node}/${gpu.index}`) ?? null;
        gpus.set(JSON.stringify([gpu.node, gpu.index, gpu.instance?.id]), { ...gpu, engineId, source: source?.name ?? "" });
      }
    }
    return { gpus: [...gpus.values()], gpuSources: told.flatMap(({ source }) => source ?? []) };
  };

  const round = (): void => {
    // Frames are identified by their time: two never share one, even if the clock is set back.
    const atMs = Math.max(clock.wallMs(), (ring.at(-1)?.atMs ?? 0) + 1);
    refreshTargets();
    const engines = [...watched.values()].map(({ target, engine }) => {
      const health = gateway.engineHealth(target.id);
      const known = ring.at(-1)?.engines.find(({ id }) => id === target.id);
      return { ...engine.frame(), health, healthSinceMs: known?.health === health ? known.healthSinceMs : atMs };
    });
    const models = modelFrames([...watched.values()].map(({ target: { model }, engine }) => ({ model, observed: engine.observed() })));
    const before = ring.pop();
    if (before !== undefined) ring.push(pastFrame(before));
    ring.push({ atMs, clusterId, timeScale, engines, models, ...gpuFrames(), ...gateway.frame() });
    if (ring.length > KEPT_FRAMES) ring.shift();
    for (const wake of wakeUps) wake();
    for (const [id, { engine }] of watched) scrapeSoon(id, engine);
    for (const [at, gpus] of gpuTargets.entries()) scrapeSoon(`gpus ${at}`, gpus);
    soon("gateway", () => void gateway.poll());
  };

  const timer = setInterval(round, intervalMs);
  round();

  /** Resolves at the next frame, on abort and on close. */
  const change = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        wakeUps.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      wakeUps.add(wake);
      signal.addEventListener("abort", wake);
    });

  return {
    frames: () => [...ring],
    routing: gateway.routing,
    models: gateway.models,
    askGateway: () => gateway.poll(),
    async *follow(signal, afterMs = clock.wallMs()) {
      let seenMs = afterMs;
      while (!signal.aborted && !closed) {
        const next = ring.find((frame) => frame.atMs > seenMs);
        if (next === undefined) {
          await change(signal);
          continue;
        }
        seenMs = next.atMs;
        yield next;
      }
    },
    over: gateway.over,
    decisions: (limit) => gateway.decisions(limit),
    mirrored: () => gateway.mirrored(),
    beginWindow: () => gateway.beginWindow(),
    close() {
      closed = true;
      clearInterval(timer);
      for (const delay of delays) clearTimeout(delay);
      for (const wake of wakeUps) wake();
    },
  };
}

const isFresh = (source: GpuSourceFrame | null): boolean => source?.state === "fresh";

/** Without the values that are only needed for the present: they would make ten minutes of frames many times as large. */
const pastFrame = (frame: LiveFrame): LiveFrame => ({
  ...frame,
  engines: frame.engines.map((engine) => ({ ...engine, readings: null, events: [] })),
  gpus: frame.gpus.map((gpu) => (gpu.containers.length === 0 ? gpu : { ...gpu, containers: [] })),
  gpuSources: frame.gpuSources.map((source) => ({ ...source, events: [] })),
  gateway: { ...frame.gateway, routing: null },
});
