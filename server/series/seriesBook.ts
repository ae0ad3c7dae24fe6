import type { SeriesKey } from "@/server/contracts/studio/seriesRange";
import { reasonOf } from "@/server/lib/reasonOf";
import type { RollUpRepository } from "@/server/store/rollUpRepository";
import { createBucketGrid } from "./bucketGrid";
import { bucketsOf } from "./bucketWidth";
import { BLOCK_BUCKETS } from "./rollUpBlock";
import { createRollUps, DAY_MS, type RollUpState, type RollUpStep, rollUpSteps } from "./rollUps";
import { createSeriesRing } from "./seriesRing";
import type { SeriesSource } from "./seriesSource";

export interface SeriesBookOptions {
  readonly clusterId: string;
  readonly repository: RollUpRepository;
  /** Time between two rounds of samples. */
  readonly intervalMs?: number;
  readonly now?: () => number;
  readonly flushMs?: number;
  /** Rounds kept at full resolution. */
  readonly rows?: number;
  readonly maxSeries?: number;
  readonly steps?: readonly RollUpStep[];
}

export interface SeriesBookState extends RollUpState {
  readonly series: number;
  /** Series given up, and values not taken, for want of room. */
  readonly dropped: { readonly series: number; readonly values: number };
  /** Of the samples at full resolution. */
  readonly bytes: number;
}

/** All series of one cluster: the last hour at scrape resolution in memory, roll-ups of a month in the store. */
export interface SeriesBook extends SeriesSource {
  /** Puts in a value, or null for none; all values of one round carry the same time. */
  append(atMs: number, subject: string, quantity: string, value: number | null): void;
  state(): SeriesBookState;
  /** Writes the roll-ups now rather than with the next minute. */
  flush(): Promise<void>;
  /** Writes the unwritten data. */
  close(): Promise<void>;
}

/** Stored at full resolution: the last hour; with slower rounds, at least as many rounds as an hour at one per second has. */
const HOUR_MS = 3_600_000;
const LEAST_ROWS = 3_600;

/**
 * 64 engines and 512 GPUs with 20 quantities each, 11,520 series, and a reserve: 177 MB if all are in use. Faster rounds have room for
 * fewer series, so the total is never larger.
 */
const MOST_VALUES = 12_288 * LEAST_ROWS;

/** The part of the roll-ups that a crash may lose; each flush packs every block again, so a shorter interval costs more. */
const FLUSH_MS = 60_000;

/** One sample may be lost, one may be late: only then is it a gap. */
const GAP_PERIODS = 3;

/** Opens the book of a cluster; it continues from the existing roll-ups. */
export function createSeriesBook(options: SeriesBookOptions): SeriesBook {
  const { clusterId, repository, intervalMs = 1_000, now = Date.now, steps = rollUpSteps } = options;
  const { rows = Math.max(LEAST_ROWS, Math.ceil(HOUR_MS / intervalMs)) } = options;
  const ring = createSeriesRing({ rows, maxSeries: options.maxSeries ?? Math.floor(MOST_VALUES / rows) });
  const rollUps = createRollUps({ clusterId, repository, now, steps });
  const timer = setInterval(() => void rollUps.flush(), options.flushMs ?? FLUSH_MS);
  timer.unref();

  /** The finest step that is not finer than the requested buckets and is still stored; otherwise the coarsest. */
  const stepFor = (bucketMs: number, fromMs: number): number => {
    const kept = steps.filter(({ keepDays }) => fromMs >= now() - keepDays * DAY_MS);
    const fits = kept.findLast(({ stepSeconds }) => 1000 * stepSeconds <= bucketMs);
    return (fits ?? kept[0] ?? steps.at(-1) ?? { stepSeconds: 60 }).stepSeconds;
  };

  return {
    everyMs: intervalMs,
    append(atMs, subject, quantity, value) {
      const known = value !== null && Number.isFinite(value);
      ring.append(atMs, subject, quantity, known ? value : null);
      if (known) rollUps.add(atMs, subject, quantity, value);
    },
    async subjects(fromMs, toMs) {
      const alive = toMs > ring.sinceMs() ? ring.keys().map(({ subject }) => subject) : [];
      return [...new Set([...alive, ...rollUps.subjects(stepFor(1, fromMs), fromMs, toMs)])].sort();
    },
    async range({ bucketMs, series, ...asked }) {
      const buckets = bucketsOf({ ...asked, bucketMs });
      const { fromMs } = buckets;
      const toMs = fromMs + buckets.count * bucketMs;
      const grid = createBucketGrid(buckets);
      const stepSeconds = stepFor(bucketMs, fromMs);
      const sinceMs = ring.sinceMs();
      const stepMs = 1000 * stepSeconds;
      // Every block before and after would be looked up in vain.
      const keptFromMs = now() - DAY_MS * Math.max(...steps.map(({ keepDays }) => keepDays)) - stepMs * BLOCK_BUCKETS;
      const keptUntilMs = now() + stepMs * BLOCK_BUCKETS;
      // A step that began before the ring did is whole in the roll-ups only: the ring goes on where the next one would begin. But one that
      // began before the range too is not read of the roll-ups: where buckets are narrower it would fill one of them alone.
      const beganMs = bucketMs < stepMs ? asked.fromMs : fromMs;
      const seamMs = Math.floor(sinceMs / stepMs) * stepMs < beganMs ? fromMs : Math.ceil(sinceMs / stepMs) * stepMs;
      // Taken before anything is waited for: rounds go on meanwhile.
      const times = ring.times();
      const earlier = times.findIndex((atMs) => atMs >= seamMs && atMs >= fromMs);
      const skipped = earlier === -1 ? times.length : earlier;
      const laid = series.map((key) => ({
        key,
        cells: grid.series(key),
        values: ring.values(key, skipped),
        untilMs: ring.has(key) ? Math.min(seamMs, toMs) : toMs,
      }));
      const problems: string[] = [];
      for (const [subject, own] of bySubject(laid)) {
        const untilMs = Math.min(keptUntilMs, Math.max(...own.map((one) => one.untilMs)));
        if (untilMs <= fromMs) continue;
        try {
          await rollUps.read({ subject, stepSeconds, fromMs: Math.max(fromMs, keptFromMs), toMs: untilMs }, (startMs, of) => {
            grid.cover(startMs, startMs + 1000 * stepSeconds);
            for (const one of own) {
              const summary = startMs < one.untilMs ? of(one.key.quantity) : null;
              if (summary !== null) one.cells.add(startMs, summary);
            }
          });
        } catch (error) {
          problems.push(`Roll-ups of ${subject} cannot be read: ${reasonOf(error)}.`);
        }
      }
      for (const [at, atMs] of times.slice(skipped).entries()) {
        if (atMs < seamMs || atMs < fromMs || atMs >= toMs) continue;
        grid.cover(atMs, atMs);
        for (const { cells, values } of laid) {
          const value = values[at] ?? Number.NaN;
          if (!Number.isNaN(value)) cells.add(atMs, { min: value, max: value, mean: value, last: value, count: 1 });
        }
      }
      return grid.answer(GAP_PERIODS * intervalMs, problems);
    },
    state: () => ({ series: ring.keys().length, dropped: ring.dropped(), bytes: ring.bytes(), ...rollUps.state() }),
    flush: () => rollUps.flush(),
    async close() {
      clearInterval(timer);
      await rollUps.flush();
    },
  };
}

function bySubject<Laid extends { readonly key: SeriesKey }>(laid: readonly Laid[]): Map<string, Laid[]> {
  const groups = new Map<string, Laid[]>();
  for (const one of laid) {
    const group = groups.get(one.key.subject);
    if (group === undefined) groups.set(one.key.subject, [one]);
    else group.push(one);
  }
  return groups;
}
