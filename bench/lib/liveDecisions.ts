import { setTimeout as sleep } from "node:timers/promises";

/** A gateway whose admin port is read by path. */
interface ReadGateway {
  read(path: string): Promise<Response>;
}

/** Between two readings of the gateway's metrics, in milliseconds. */
const READ_EVERY_MS = 500;

/** Node's timer of the event loop's delay counts its own interval. */
const LOOP_TIMER_SECONDS = 0.01;

/** A Prometheus histogram: upper bounds in seconds, ascending, the last one Infinity, and the count at or below each. */
interface Buckets {
  readonly bounds: readonly number[];
  readonly cumulative: readonly number[];
}

/** What a gateway said of its decisions while many requests waited. */
export interface LiveDecisions {
  readonly decisions: Buckets;
  readonly waiting: { readonly least: number; readonly most: number };
  /** Delay of the event loop in seconds: the median over readings of its 99th percentile between two, and the longest that any told. */
  readonly loop: { readonly p99: number; readonly longest: number };
}

interface Reading {
  readonly waiting: number;
  readonly decisions: Buckets;
  readonly loop: LiveDecisions["loop"];
}

/**
 * Reads the gateway's metrics until the load has ended; what was decided while many waited is what its histogram gained meanwhile.
 *
 * @param leastWaiting requests that wait at the readings before and after decisions that count.
 * @throws Error where so many never waited.
 */
export async function decisionsWhile(gateway: ReadGateway, load: Promise<unknown>, leastWaiting: number): Promise<LiveDecisions> {
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  load.then(end, end);
  const counted: { at: Reading; to: Reading }[] = [];
  let last = await readingOf(gateway);
  while (!ended) {
    await sleep(READ_EVERY_MS);
    const next = await readingOf(gateway);
    if (Math.min(last.waiting, next.waiting) >= leastWaiting) counted.push({ at: last, to: next });
    last = next;
  }
  const [first] = counted;
  if (first === undefined) throw new Error(`At no time did ${leastWaiting} requests wait.`);
  const readings = counted.map(({ to }) => to);
  const p99s = readings.map(({ loop }) => loop.p99).sort((a, b) => a - b);
  return {
    decisions: {
      bounds: first.at.decisions.bounds,
      cumulative: first.at.decisions.bounds.map((_, bucket) => counted.reduce((sum, { at, to }) => sum + gained(at, to, bucket), 0)),
    },
    waiting: { least: Math.min(...readings.map(({ waiting }) => waiting)), most: Math.max(...readings.map(({ waiting }) => waiting)) },
    loop: { p99: p99s[Math.floor(p99s.length / 2)] ?? Number.NaN, longest: Math.max(...readings.map(({ loop }) => loop.longest)) },
  };
}

/** The least bound of the gateway's buckets that a share of the decisions keeps, in milliseconds. */
export function boundOf({ decisions: { bounds, cumulative } }: LiveDecisions, share: number): number {
  const at = cumulative.findIndex((count) => count >= share * (cumulative.at(-1) ?? 0));
  return 1000 * (bounds[at] ?? Number.NaN);
}

/** Shares of the decisions within each bound, their number, and how many requests waited, as text. */
export function decisionsText({ decisions: { bounds, cumulative }, waiting, loop }: LiveDecisions): string {
  const all = cumulative.at(-1) ?? 0;
  const within = bounds
    .map((bound, index) => `${(1000 * bound).toLocaleString("en")} ms ${((100 * (cumulative[index] ?? 0)) / all).toFixed(1)} %`)
    .filter((_, index) => (cumulative[index] ?? 0) > 0);
  return `by the buckets of the gateway's own metric: ${within.join(", ")}; ${all} decisions while ${waiting.least} to ${waiting.most} requests waited; the event loop was late by ${(1000 * loop.p99).toFixed(1)} ms at p99, median of the readings, and by at most ${(1000 * loop.longest).toFixed(1)} ms, by Node's own measure, readings of the metrics included`;
}

const gained = (at: Reading, to: Reading, bucket: number): number =>
  (to.decisions.cumulative[bucket] ?? 0) - (at.decisions.cumulative[bucket] ?? 0);

async function readingOf(gateway: ReadGateway): Promise<Reading> {
  const lines = (await (await gateway.read("/metrics")).text()).split("\n");
  const valuesOf = (prefix: string): readonly { readonly labels: string; readonly value: number }[] =>
    lines.flatMap((line) => {
      if (!line.startsWith(prefix)) return [];
      const at = line.lastIndexOf(" ");
      return [{ labels: line.slice(prefix.length, at), value: Number(line.slice(at + 1)) }];
    });
  const buckets = valuesOf("weir_gateway_decision_seconds_bucket");
  const late = (name: string): number => Math.max(0, (valuesOf(`${name} `)[0]?.value ?? Number.NaN) - LOOP_TIMER_SECONDS);
  return {
    waiting: valuesOf("weir_gateway_queued{").reduce((sum, { value }) => sum + value, 0),
    decisions: {
      bounds: buckets.map(({ labels }) => Number(/le="([^"]+)"/.exec(labels)?.[1]?.replace("+Inf", "Infinity"))),
      cumulative: buckets.map(({ value }) => value),
    },
    loop: { p99: late("nodejs_eventloop_lag_p99_seconds"), longest: late("nodejs_eventloop_lag_max_seconds") },
  };
}
