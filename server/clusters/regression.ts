import type { Halt } from "@/server/contracts/studio";

/** Live traffic during a roll-out, at one moment. */
export interface RegressionLook {
  readonly atMs: number;
  /** Engine seconds in a wall second. */
  readonly timeScale: number;
  readonly gatewayAnswers: boolean;
  /** As the gateway says: what is neither serving nor unhealthy is draining, or it does not know it. */
  readonly engines: readonly { readonly id: string; readonly health: "serving" | "draining" | "unhealthy" | "unknown" }[];
  /** Requests that ended in the last ten seconds, by how. `shed`: there was no room or no engine for them. */
  readonly ended: { readonly answered: number; readonly failed: number; readonly shed: number };
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
const FAILURES = { atLeast: 20, points: 0.02, factor: 2, lastingMs: 10_000 } as const;

/** The latency is that of half a minute: so long again, and it is no burst of arrivals. */
const LATENCY = { requests: 50, factor: 1.2, lastingSeconds: 60, lastingMs: 10_000 } as const;

/** After a dip queues are still long, and the half minute that is looked at holds answers of it. */
const SETTLING = { seconds: 60, ms: 30_000 } as const;

type Sign = "gateway" | "engines" | "failures" | "latency" | "shed";

/** What is remembered between two looks. */
export interface RegressionState {
  /** The first look, which what comes is held against: a roll-out that is to mend something must not be stopped by what it mends. */
  readonly before: RegressionLook;
  readonly since: Readonly<Partial<Record<Sign, number>>>;
  readonly settlesAtMs: number;
}

export interface Regression {
  readonly state: RegressionState;
  /** null: go on. */
  readonly halt: Halt | null;
}

/**
 * Whether a roll-out has made things worse since the first look, so that it should stop. Each sign has to hold in every look over its
 * time. While the roll-out itself is short of engines that it drained to make room (`thin`), and until queues have emptied after that,
 * latency and shed requests say nothing that was not shown before it was approved; failing engines and failed requests count always.
 *
 * @param known what the look before left; null: this is the first, which never halts.
 */
export function seeRegression(known: RegressionState | null, look: RegressionLook, position: RollOutPosition): Regression {
  const { atMs, timeScale } = look;
  const settling = Math.max(SETTLING.ms, (SETTLING.seconds * 1000) / timeScale);
  const before = known?.before ?? look;
  const settlesAtMs = position.thin ? atMs + settling : (known?.settlesAtMs ?? atMs);
  const lasting = Math.max(LATENCY.lastingMs, (LATENCY.lastingSeconds * 1000) / timeScale);
  const excused = atMs < settlesAtMs;

  const signs: readonly {
    readonly sign: Sign;
    readonly lastingMs: number;
    readonly because: Halt["because"];
    readonly says: string | null;
  }[] = [
    { sign: "gateway", lastingMs: GATEWAY_AWAY_MS, because: "health", says: look.gatewayAnswers ? null : "The gateway does not answer" },
    { sign: "engines", lastingMs: ENGINE_FAILING_MS, because: "health", says: failingEngines(before, look, position) },
    { sign: "failures", lastingMs: FAILURES.lastingMs, because: "health", says: risen(before, look, "failed") },
    { sign: "latency", lastingMs: lasting, because: "objective", says: excused ? null : slower(before, look) },
    { sign: "shed", lastingMs: lasting, because: "objective", says: excused ? null : risen(before, look, "shed") },
  ];
  const since: Partial<Record<Sign, number>> = {};
  let halt: Halt | null = null;
  for (const { sign, lastingMs, because, says } of signs) {
    if (says === null) continue;
    const sinceMs = known?.since[sign] ?? atMs;
    since[sign] = sinceMs;
    if (atMs - sinceMs < lastingMs || known === null) continue;
    halt ??= { at: new Date(atMs).toISOString(), because, sentence: `${says}, for ${Math.round((atMs - sinceMs) / 1000)} s.` };
  }
  return { state: { before, since, settlesAtMs }, halt };
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

/** The share of requests that ended badly, where it is clearly above what it was. */
function risen(before: RegressionLook, look: RegressionLook, how: "failed" | "shed"): string | null {
  const share = ({ ended }: RegressionLook): number => ended[how] / Math.max(1, ended.answered + ended.failed + ended.shed);
  const [was, is] = [share(before), share(look)];
  if (look.ended[how] < FAILURES.atLeast || is <= was + FAILURES.points || is <= was * FAILURES.factor) return null;
  return `${percent(is)} of the requests ${how === "failed" ? "fail" : "are turned away"}, and ${percent(was)} before the roll-out`;
}

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
