import { z } from "zod";
import type { KeyReference } from "@/server/contracts/engine/engineAccess";
import {
  type Decision,
  decisionPageSchema,
  type GatewayConfig,
  gatewayConfigSchema,
  gatewayStatusSchema,
} from "@/server/contracts/gateway/gatewayAdmin";
import { type MirrorSample, mirrorSamplePageSchema } from "@/server/contracts/gateway/gatewayControls";
import type { EngineFrame, JudgeHealth, LiveFrame, MeasuredRange, RoutingFrame, ServingModel, StageFrame } from "@/server/contracts/studio";
import { modelsOf } from "@/solver/plan/policySchema";
import type { Clock } from "./clock";
import { createCounterRate } from "./counterRate";
import { type AskedRange, createDecisionWindow, RATE_WINDOW_MS } from "./decisionWindow";
import { freshness } from "./freshness";
import { type ScrapeFailure, scrape } from "./scrape";
import type { ScrapeFacts } from "./studioMetrics";

export interface GatewayWatchOptions {
  /** Root of the gateway's admin listener. */
  readonly adminUrl: string;
  /** The token itself, or a reference to it. */
  readonly adminToken: string | KeyReference;
  readonly intervalMs: number;
  readonly timeScale: number;
  readonly clock: Clock;
  readonly labelOf?: (decision: Decision) => number | null;
  /** Called for every round of reads. */
  readonly onScrape: (facts: ScrapeFacts) => void;
}

/** The gateway's data from its admin listener: exact values, where engines' histograms have buckets. */
export interface GatewayWatch {
  /** Reads once; returns at once if the previous round is still in progress. Never throws. */
  poll(): Promise<void>;
  frame(): Pick<LiveFrame, "planId" | "gateway" | "measured" | "recent">;
  /** The measurements in a range of time under the plan and policy in force, as last known. */
  over(range: AskedRange): MeasuredRange;
  /** The gateway's routing, as last known; null before its first answer. */
  routing(): RoutingFrame | null;
  /**
   * Models with engines there and how many of these take work, as last known, also while it does not answer; null before its first answer.
   */
  models(): readonly ServingModel[] | null;
  /** The gateway's view of an engine; `unknown` for one it does not know and while it does not answer. */
  engineHealth(engineId: string): EngineFrame["health"];
  beginWindow(): void;
  decisions(limit: number): readonly Decision[];
  /** The newest requests that its mirror sent through all models, oldest first. */
  mirrored(): readonly MirrorSample[];
}

/** At most this many pages of 1000 decisions per round; the rest follows in the next one. */
const MAX_PAGES = 20;

/** By how much an uptime may lag behind the time since the last answer of the same gateway. */
const UPTIME_LAG_SECONDS = 1;

/** As many mirrored requests as a gateway keeps. */
const MOST_MIRRORED = 5000;

type Answer<Value> = { readonly ok: true; readonly value: Value } | ScrapeFailure;
type Status = z.infer<typeof gatewayStatusSchema>;

/** The gateway's states of a replica, in an operator's terms. */
const HEALTH: Readonly<Record<Status["replicas"][number]["state"], EngineFrame["health"]>> = {
  active: "serving",
  cordoned: "draining",
  unhealthy: "unhealthy",
};

/**
 * Watches one gateway. A restarted one counts its decisions and samples from the start again, which is detected by its uptime, also where it
 * has counted further by now.
 */
export function createGatewayWatch(options: GatewayWatchOptions): GatewayWatch {
  const { intervalMs, timeScale, clock, labelOf, onScrape, adminToken } = options;
  const admission = typeof adminToken === "string" ? { bearer: adminToken } : { access: { key: adminToken } };
  const window = createDecisionWindow({ timeScale, clock, ...(labelOf === undefined ? {} : { labelOf }) });
  const refused = createCounterRate({ windowMs: RATE_WINDOW_MS, timeScale });
  const shed = createCounterRate({ windowMs: RATE_WINDOW_MS, timeScale });
  const unjudged = createCounterRate({ windowMs: RATE_WINDOW_MS, timeScale });
  let polling = false;
  let last: { readonly atMs: number; readonly status: Status } | null = null;
  let failure: ScrapeFailure | null = null;
  let since: Pick<LiveFrame["gateway"], "state" | "sinceMs"> = { state: "unreachable", sinceMs: clock.wallMs() };
  let cursor = 0;
  let mirrorCursor = 0;
  let mirrored: readonly MirrorSample[] = [];
  /** Why the mirror's samples could not be read in the last round; its other figures could. */
  let mirrorFailure: ScrapeFailure | null = null;
  /** Decisions that the gateway had dropped before they were read in the last round. */
  let missed = 0;
  let configured: { readonly etag: string; readonly config: GatewayConfig; readonly models: readonly string[] } | null = null;

  const ask = async <Schema extends z.ZodType>(path: string, schema: Schema): Promise<Answer<z.output<Schema>>> => {
    const url = options.adminUrl + path;
    const result = await scrape(url, { timeoutMs: 2 * intervalMs, ...admission });
    return result.ok ? parseAnswer(url, result.text, schema) : result;
  };

  const pollDecisions = async (latest: number): Promise<ScrapeFailure | null> => {
    missed = 0;
    for (let page = 0; page < MAX_PAGES && cursor < latest; page++) {
      const answer = await ask(`/decisions?after=${cursor}`, decisionPageSchema);
      if (!answer.ok) return answer;
      window.add(answer.value.decisions);
      missed += answer.value.missed;
      const newest = answer.value.decisions.at(-1)?.sequence;
      if (newest === undefined) break;
      cursor = newest;
    }
    return null;
  };

  const pollMirrored = async (latest: number): Promise<ScrapeFailure | null> => {
    if (latest < mirrorCursor) mirrorCursor = 0;
    for (let page = 0; page < MAX_PAGES && mirrorCursor < latest; page++) {
      const answer = await ask(`/mirror/samples?after=${mirrorCursor}`, mirrorSamplePageSchema);
      if (!answer.ok) return answer;
      const newest = answer.value.samples.at(-1)?.sequence;
      if (newest === undefined) break;
      mirrored = [...mirrored, ...answer.value.samples].slice(-MOST_MIRRORED);
      mirrorCursor = newest;
    }
    return null;
  };

  const pollOnce = async (): Promise<ScrapeFailure | null> => {
    const answer = await ask("/status", gatewayStatusSchema);
    if (!answer.ok) return answer;
    const status = answer.value;
    if (last !== null && (startedSince(last, status) || status.lastDecision < cursor)) {
      cursor = 0;
      mirrorCursor = 0;
    }
    if (status.configEtag !== null && status.configEtag !== configured?.etag) {
      const config = await ask("/config", gatewayConfigSchema);
      if (!config.ok) return config;
      if (configured !== null && configured.config.policyHash !== config.value.policyHash) window.begin();
      configured = { etag: status.configEtag, config: config.value, models: modelsOf(config.value.policy) };
    }
    const missing = await pollDecisions(status.lastDecision);
    if (missing !== null) return missing;
    const lastSample = status.controls?.lastMirrorSample ?? status.controls?.mirror?.lastSample;
    mirrorFailure = lastSample === undefined ? null : await pollMirrored(lastSample);
    const atMs = clock.steadyMs();
    refused.take(atMs, status.refused - (status.shed ?? 0));
    shed.take(atMs, status.shed ?? null);
    unjudged.take(atMs, status.unjudged);
    last = { atMs, status };
    return null;
  };

  const startedSince = ({ atMs, status }: NonNullable<typeof last>, { uptimeSeconds }: Status): boolean =>
    uptimeSeconds < status.uptimeSeconds || uptimeSeconds + UPTIME_LAG_SECONDS < (clock.steadyMs() - atMs) / 1000;

  const fresh = () => freshness({ nowMs: clock.steadyMs(), intervalMs, lastGoodAtMs: last?.atMs ?? null, failure });
  const statusNow = (): Status | null => (fresh().state === "unreachable" ? null : (last?.status ?? null));

  /** What could not be read of a gateway that answers; empty: nothing. */
  const incomplete = (): string =>
    missed > 0
      ? `${missed} decisions were dropped by the gateway before they were read`
      : mirrorFailure === null
        ? ""
        : `the mirror's samples could not be read: ${mirrorFailure.reason}`;

  const inForce = () => ({
    ...{ planId: last?.status.planId ?? null, policyHash: configured?.config.policyHash ?? null },
    models: configured?.models ?? [],
  });

  const routing = (): RoutingFrame | null => {
    if (configured === null || last === null || last.status.configEtag === null) return null;
    const { etag, config } = configured;
    const { planId, policyHash, policy } = config;
    const { controls = null, previous, lostStages, grace, unscoredStages } = last.status;
    const told = {
      ...(previous !== undefined && { previous }),
      ...(lostStages !== undefined && { lostStages }),
      ...(grace !== undefined && { grace }),
      ...(unscoredStages !== undefined && { unscoredStages }),
    };
    return { etag, planId, policyHash, policy, controls, ...told };
  };

  return {
    async poll() {
      if (polling) return;
      polling = true;
      const beganMs = performance.now();
      try {
        failure = await pollOnce();
      } finally {
        polling = false;
      }
      onScrape({ kind: "gateway", seconds: (performance.now() - beganMs) / 1000, ok: failure === null, badLines: 0 });
    },
    frame() {
      const { state, ageSeconds, reason } = fresh();
      if (state !== since.state) since = { state, sinceMs: clock.wallMs() };
      const status = statusNow();
      const models = configured?.models ?? [];
      const summary = window.summarise(inForce());
      const gap = status === null;
      return {
        planId: status?.planId ?? null,
        gateway: {
          ...since,
          ageSeconds,
          reason: reason === "" ? incomplete() : reason,
          requestsPerSecond: gap ? null : summary.requestsPerSecond,
          errorsPerSecond: gap ? null : summary.errorsPerSecond,
          refusedPerSecond: gap ? null : refused.perSecond(),
          shedPerSecond: gap ? null : shed.perSecond(),
          unjudgedPerSecond: gap ? null : unjudged.perSecond(),
          judge: status?.judge == null ? null : judgeHealth(status.judge),
          queuedForAny: status === null ? null : queuedForAny(status),
          ttftP95Seconds: gap ? null : summary.ttftP95Seconds,
          overheadP95Seconds: gap ? null : summary.overheadP95Seconds,
          stages: models.map((model, at) => ({ model, ...queues(model, status), ...(gap ? UNKNOWN : (summary.stages[at] ?? UNKNOWN)) })),
          routing: routing(),
        },
        measured: gap ? { ...summary.measured, ...UNMEASURED } : summary.measured,
        recent: gap
          ? { ...summary.recent, ...UNMEASURED, ttftP95Seconds: null, overheadP95Seconds: null, stages: models.map(() => UNKNOWN) }
          : summary.recent,
      };
    },
    over: (range) => window.over(inForce(), range),
    routing,
    models: () => (last === null ? null : servingModels(last.status)),
    engineHealth(engineId) {
      const replica = statusNow()?.replicas.find((each) => each.id === engineId);
      return replica === undefined ? "unknown" : HEALTH[replica.state];
    },
    beginWindow: () => window.begin(),
    decisions: (limit) => window.latest(limit),
    mirrored: () => mirrored,
  };
}

const UNKNOWN = { share: null, escalated: null, p50Seconds: null, p95Seconds: null, p99Seconds: null, meanJudgedScore: null };

const UNMEASURED = { p50Seconds: null, p95Seconds: null, p99Seconds: null, meanQuality: null };

/** Models with engines at the gateway, and how many of these take work. */
export function servingModels({ replicas }: Pick<Status, "replicas">): readonly ServingModel[] {
  const engines = new Map<string, number>();
  for (const { model, state } of replicas) engines.set(model, (engines.get(model) ?? 0) + (state === "active" ? 1 : 0));
  return [...engines].map(([model, active]) => ({ model, engines: active }));
}

function queues(model: string, status: Status | null): Pick<StageFrame, "queued" | "inFlight"> {
  if (status === null) return { queued: null, inFlight: null };
  const replicas = status.replicas.filter((replica) => replica.model === model);
  return {
    // The gateway lists a model once a request had to wait for it.
    queued: status.queued[model] ?? 0,
    inFlight: replicas.length === 0 ? null : replicas.reduce((sum, replica) => sum + replica.inFlight, 0),
  };
}

/** Requests in queues that belong to no single model, named by the served name of their policy. */
function queuedForAny({ queued, replicas }: Pick<Status, "queued" | "replicas">): number {
  const models = new Set(replicas.map(({ model }) => model));
  return Object.entries(queued).reduce((sum, [line, count]) => (models.has(line) ? sum : sum + count), 0);
}

const isoOf = (unixMs: number | null): string | null => (unixMs === null ? null : new Date(unixMs).toISOString());

/** The judge's health for an operator. Its latest call determines it. */
export function judgeHealth(status: NonNullable<Status["judge"]>): JudgeHealth {
  const { model, circuitOpen, unavailable, scored, failed, lastScoreMs, lastFailure } = status;
  const failing = lastFailure !== null && lastFailure.atMs > (lastScoreMs ?? 0);
  const state =
    unavailable !== null ? "unavailable" : circuitOpen ? "circuit-open" : failing ? "failing" : scored > 0 ? "answering" : "idle";
  return {
    ...{ model, state, scored, failed, reason: unavailable ?? (failing || circuitOpen ? (lastFailure?.reason ?? "") : "") },
    lastScoreAt: isoOf(lastScoreMs),
    lastFailureAt: isoOf(lastFailure?.atMs ?? null),
  };
}

function parseAnswer<Schema extends z.ZodType>(url: string, text: string, schema: Schema): Answer<z.output<Schema>> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { ok: false, kind: "status", reason: `${url} answered with text that is not JSON` };
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, kind: "status", reason: `${url} answered with something else than expected: ${z.prettifyError(parsed.error)}` };
}
