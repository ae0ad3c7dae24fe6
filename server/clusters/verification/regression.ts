import type { Halt } from "@/server/contracts/studio";
import { RATE_WINDOW_MS } from "@/server/telemetry/decisionWindow";

/** Requests by how they ended. `shed`: there was no room or no engine for them. */
interface Ended {
  readonly answered: number;
  readonly failed: number;
  readonly shed: number;
}

/** Live traffic during a roll-out, at one moment. */
export interface RegressionLook {
  /** On a clock that nobody sets. */
  readonly atMs: number;
  /** Engine seconds in a wall second. */
  readonly timeScale: number;
  readonly gatewayAnswers: boolean;
  /** As the gateway says: what is neither serving nor unhealthy is draining, or it does not know it. */
  readonly engines: readonly { readonly id: string; readonly health: "serving" | "draining" | "unhealthy" | "unknown" }[];
  /** Requests that ended in the last ten seconds. */
  readonly ended: Ended;
  /** Requests that wait or run; left out: nobody says. */
  readonly underWay?: number;
  /** A model of the policy has no engine that takes requests: those for it wait, and time out where that takes long. */
  readonly unserved?: boolean;
  /** Of the plan in force, over the last half minute of engine time; null: too few to tell, or its percentile is not measured. */
  readonly latency: { readonly requests: number; readonly seconds: number } | null;
  /** Upper end of what the plan in force promised of that latency; null: nothing. */
  readonly promisedSeconds: number | null;
}

/** Where a roll-out is, by its steps. */
export interface RollOutPosition {
  /** Engines that should serve; null: those that served when it began. */
  readonly routed: readonly string[] | null;
  /** Engines that the step under way leaves in; null: it changes nothing. */
  readonly staying: readonly string[] | null;
  /** An engine was drained for want of a GPU and its successor does not serve yet: fewer serve than before and than after. */
  readonly thin: boolean;
}

/** A gateway that is restarted is back sooner. */
const GATEWAY_AWAY_MS = 15_000;

/** The gateway asks an engine that failed again within ten seconds. */
const ENGINE_FAILING_MS = 20_000;

/** Not one failed request, nor one bad second. */
const FAILURES = { atLeast: 10, points: 0.02, factor: 2, lastingMs: 10_000 } as const;

/** A share is told of so many requests: where fewer ended in ten seconds, of those before too, but no further back than this. */
const SHARE = { requests: 100, lookMs: RATE_WINDOW_MS, longestMs: 300_000 } as const;

/** Requests are under way and none ends: longer than the plan's slow ones take. */
const STUCK = { seconds: 60, promises: 3, lastingMs: 10_000 } as const;

/** The latency is that of half a minute: so long again, and it is no burst of arrivals. */
const LATENCY = { requests: 50, factor: 1.2, lastingSeconds: 60, lastingMs: 10_000 } as const;

/** After a dip queues are still long, and the half minute that is looked at holds answers of it. */
const SETTLING = { seconds: 60, ms: 30_000 } as const;

type Sign = "gateway" | "engines" | "failures" | "stuck" | "latency" | "shed";

/** What is remembered between two looks. */
export interface RegressionState {
  /** The first look, which what comes is held against: a roll-out that is to mend something must not be stopped by what it mends. */
  readonly before: RegressionLook;
  readonly since: Readonly<Partial<Record<Sign, number>>>;
  /** What ended since the first look, ten seconds each, newest first, without what the roll-out is excused of. */
  readonly kept: readonly { readonly atMs: number; readonly ended: Ended }[];
  readonly settlesAtMs: number;
  readonly servesAtMs: number;
}

export interface Regression {
  readonly state: RegressionState;
  /** null: go on. */
  readonly halt: Omit<Halt, "at"> | null;
}

/**
 * Whether a roll-out has made things worse since the first look, so that it should stop. Each sign has to hold in every look over its
 * time. While the roll-out itself is short of engines that it drained to make room (`thin`), and until queues have emptied after that,
 * latency, shed requests and requests that do not end say nothing that was not shown before it was approved, nor do failed ones while
 * a model has no engine at all; failing engines count always.
 *
 * @param known what the look before left; null: this is the first, which never halts.
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

/** Engines that should serve and fail or are missing, but for those that did not serve when the roll-out began. */
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
 * The share of requests that ended badly, where it is clearly above what it was.
 *
 * @param lately newest first; older ones count where the newer are few, and none where in the newest nothing ended badly any more.
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

/** The latency beyond what the plan in force promised, where it was better before the roll-out or nothing is known of before. */
function slower(before: RegressionLook, { latency, promisedSeconds }: RegressionLook): string | null {
  if (latency === null || promisedSeconds === null || latency.requests < LATENCY.requests) return null;
  const was = before.latency?.seconds ?? null;
  if (latency.seconds <= promisedSeconds || (was !== null && latency.seconds <= LATENCY.factor * was)) return null;
  const then = was === null ? "" : `, ${seconds(was)} before the roll-out`;
  return `The latency is ${seconds(latency.seconds)}: at most ${seconds(promisedSeconds)} were promised${then}`;
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;
const seconds = (value: number): string => `${Number(value.toPrecision(3))} s`;
