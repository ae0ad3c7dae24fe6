import type { Halt } from "@/server/contracts/studio";
import { RATE_WINDOW_MS } from "@/server/telemetry/decisionWindow";

/** Requests by outcome. `shed`: there was no room or no engine for them. */
interface Ended {
  readonly answered: number;
  readonly failed: number;
  readonly shed: number;
}

/** Live traffic during a roll-out, at one moment. */
export interface RegressionLook {
  /** On a monotonic clock. */
  readonly atMs: number;
  /** Engine seconds per wall second. */
  readonly timeScale: number;
  readonly gatewayAnswers: boolean;
  /** From the gateway: an engine that is neither serving nor unhealthy is draining, or unknown to it. */
  readonly engines: readonly { readonly id: string; readonly health: "serving" | "draining" | "unhealthy" | "unknown" }[];
  /** Requests that ended in the last ten seconds. */
  readonly ended: Ended;
  /** Requests that wait or run; absent: not known. */
  readonly underWay?: number;
  /** A model of the policy has no engine that takes requests: requests for it wait, and time out if that takes long. */
  readonly unserved?: boolean;
  /** For the plan in force, over the last half minute of engine time; null: too few requests, or its percentile is not measured. */
  readonly latency: { readonly requests: number; readonly seconds: number } | null;
  /** Upper end of the plan's promise for that latency; null: nothing. */
  readonly promisedSeconds: number | null;
}

/** The position of a roll-out by its steps. */
export interface RollOutPosition {
  /** Engines that should serve; null: those that served when it began. */
  readonly routed: readonly string[] | null;
  /** Engines that stay after the current step; null: it changes nothing. */
  readonly staying: readonly string[] | null;
  /** An engine was drained for lack of a GPU and its successor does not serve yet: fewer engines serve than before and after. */
  readonly thin: boolean;
}

/** A restarted gateway is back sooner. */
const GATEWAY_AWAY_MS = 15_000;

/** The gateway probes a failed engine again within ten seconds. */
const ENGINE_FAILING_MS = 20_000;

/** More than a single failed request or a single bad second. */
const FAILURES = { atLeast: 10, points: 0.02, factor: 2, lastingMs: 10_000 } as const;

/** A share needs this many requests: if fewer ended in ten seconds, earlier ones are added, but not from before this time. */
const SHARE = { requests: 100, lookMs: RATE_WINDOW_MS, longestMs: 300_000 } as const;

/** Requests are in flight and none ends: longer than the plan's slow ones take. */
const STUCK = { seconds: 60, promises: 3, lastingMs: 10_000 } as const;

/** The latency covers half a minute; if it lasts as long again, it is no burst of arrivals. */
const LATENCY = { requests: 50, factor: 1.2, lastingSeconds: 60, lastingMs: 10_000 } as const;

/** After a dip queues are still long, and the observed half minute contains their answers. */
const SETTLING = { seconds: 60, ms: 30_000 } as const;

type Sign = "gateway" | "engines" | "failures" | "stuck" | "latency" | "shed";

/** State between two looks. */
export interface RegressionState {
  /** The first look, the reference for the later ones: a roll-out that repairs a problem must not be stopped by that problem. */
  readonly before: RegressionLook;
  readonly since: Readonly<Partial<Record<Sign, number>>>;
  /** Requests that ended since the first look, ten seconds each, newest first, without those for which the roll-out is excused. */
  readonly kept: readonly { readonly atMs: number; readonly ended: Ended }[];
  readonly settlesAtMs: number;
  readonly servesAtMs: number;
}

export interface Regression {
  readonly state: RegressionState;
  /** null: continue. */
  readonly halt: Omit<Halt, "at"> | null;
}

/**
 * Whether a roll-out has made the traffic worse since the first look, so that it should stop. Each sign must hold in every look over its
 * time. While the roll-out itself is short of engines that it drained to make room (`thin`), and until queues have emptied after that,
 * latency, shed requests and requests that do not end are the effects shown before its approval and do not count, nor do failed requests
 * while a model has no engine; failing engines always count.
 *
 * @param known the state after the previous look; null: this is the first, which never halts.
 */
export function seeRegression(known: RegressionState | null, look: RegressionLook, position: RollOutPosition): Regression {
  const { atMs, timeScale } = look;
  const settling = Math.max(SETTLING.ms, (SETTLING.seconds * 1000) / timeScale);
  const before = known?.before ?? look;
  const settlesAtMs = position.thin ? atMs + settling : (known?.settlesAtMs ?? atMs);
  const servesAtMs = position.thin && look.unserved === true ? atMs + settling : (known?.servesAtMs ?? atMs);
  const lasting = Math.max(LATENCY.lastingMs, (LATENCY.lastingSeconds * 1000) / timeScale);
  const stuckMs = Math.max(STUCK.lastingMs, (Math.max(STUCK.seconds, STUCK.promises * (look.promisedSeconds ?? 0)) * 1000) / timeScale);
  const excused = atMs < settlesAtMs;
  const ended = { ...look.ended, ...(atMs < servesAtMs ? { failed: 0 } : {}), ...(excused ? { shed: 0 } : {}) };
  const kept = known?.kept.filter((one) => one.atMs > atMs - SHARE.longestMs) ?? [];
  const earlier = kept.filter((one) => one.atMs <= atMs - SHARE.lookMs);
  const isDue = known !== null && atMs - (kept[0]?.atMs ?? before.atMs) >= SHARE.lookMs;
  const lately = [ended, ...earlier.map((one) => one.ended)];

  const signs: readonly {
    readonly sign: Sign;
    readonly lastingMs: number;
    readonly because: Halt["because"];
    readonly says: string | null;
  }[] = [
    { sign: "gateway", lastingMs: GATEWAY_AWAY_MS, because: "health", says: look.gatewayAnswers ? null : "The gateway does not answer" },
    { sign: "engines", lastingMs: ENGINE_FAILING_MS, because: "health", says: failingEngines(before, look, position) },
    { sign: "failures", lastingMs: FAILURES.lastingMs, because: "health", says: risen(before.ended, lately, "failed") },
    { sign: "stuck", lastingMs: stuckMs, because: "health", says: excused || isStuck(before) ? null : stuck(look) },
    { sign: "latency", lastingMs: lasting, because: "objective", says: excused ? null : slower(before, look) },
    { sign: "shed", lastingMs: lasting, because: "objective", says: risen(before.ended, lately, "shed") },
  ];
  const since: Partial<Record<Sign, number>> = {};
  let halt: Regression["halt"] = null;
  for (const { sign, lastingMs, because, says } of signs) {
    if (says === null) continue;
    const sinceMs = known?.since[sign] ?? atMs;
    since[sign] = sinceMs;
    if (atMs - sinceMs < lastingMs || known === null) continue;
    halt ??= { because, sentence: `${says}, for ${Math.round((atMs - sinceMs) / 1000)} s.` };
  }
  return { state: { before, since, kept: isDue ? [{ atMs, ended }, ...kept] : kept, settlesAtMs, servesAtMs }, halt };
}

/** Engines that should serve and fail or are missing, except those that did not serve when the roll-out began. */
function failingEngines(before: RegressionLook, look: RegressionLook, { routed, staying }: RollOutPosition): string | null {
  if (!look.gatewayAnswers) return null;
  const serving = (engines: RegressionLook["engines"]) => engines.flatMap(({ id, health }) => (health === "serving" ? id : []));
  const known = new Set(before.engines.map(({ id }) => id));
  const began = new Set(serving(before.engines));
  const due = (routed ?? [...began]).filter((id) => (began.has(id) || !known.has(id)) && (staying === null || staying.includes(id)));
  const failing = due.filter((id) => {
    const health = look.engines.find((engine) => engine.id === id)?.health;
    return health === undefined || health === "unhealthy";
  });
  return failing.length === 0
    ? null
    : `${failing.join(", ")} should serve and ${failing.length === 1 ? "fails or is" : "fail or are"} missing`;
}

/**
 * The share of requests that ended badly, if it is clearly above the earlier share.
 *
 * @param lately newest first; older ones are added if the newer are few, but not if nothing ended badly in the newest.
 */
function risen(before: Ended, lately: readonly Ended[], how: "failed" | "shed"): string | null {
  const [newest] = lately;
  if (newest === undefined || (newest[how] === 0 && countOf(newest) > 0)) return null;
  let [bad, requests] = [0, 0];
  for (const ended of lately) {
    if (requests >= SHARE.requests) break;
    bad += ended[how];
    requests += countOf(ended);
  }
  const [was, is] = [before[how] / Math.max(1, countOf(before)), bad / Math.max(1, requests)];
  if (bad < FAILURES.atLeast || is <= was + FAILURES.points || is <= was * FAILURES.factor) return null;
  return `${percent(is)} of the requests ${how === "failed" ? "fail" : "are rejected"}, and ${percent(was)} before the roll-out`;
}

const countOf = ({ answered, failed, shed }: Ended): number => answered + failed + shed;

const isStuck = ({ underWay = 0, ended }: RegressionLook): boolean => underWay > 0 && countOf(ended) === 0;

const stuck = (look: RegressionLook): string | null =>
  isStuck(look) ? `${look.underWay} request${look.underWay === 1 ? " is" : "s are"} under way and none ends` : null;

/** The latency above the promise of the plan in force, if it was better before the roll-out or the earlier latency is unknown. */
function slower(before: RegressionLook, { latency, promisedSeconds }: RegressionLook): string | null {
  if (latency === null || promisedSeconds === null || latency.requests < LATENCY.requests) return null;
  const was = before.latency?.seconds ?? null;
  if (latency.seconds <= promisedSeconds || (was !== null && latency.seconds <= LATENCY.factor * was)) return null;
  const then = was === null ? "" : `, ${seconds(was)} before the roll-out`;
  return `The latency is ${seconds(latency.seconds)}: at most ${seconds(promisedSeconds)} were promised${then}`;
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;
const seconds = (value: number): string => `${Number(value.toPrecision(3))} s`;
