import type { EngineFrame } from "@/server/contracts/studio";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { engineVersion, versionPaths } from "@/server/engines/engineVersion";
import { parsePromText } from "@/server/engines/promText";
import { createCounterRate } from "./counterRate";
import { freshness } from "./freshness";
import { type Histogram, histogramDelta, histogramQuantile, histogramSum } from "./histogramQuantile";
import { type EngineReading, readEngine } from "./readEngine";
import { type ScrapeResult, scrape } from "./scrape";

/** An engine to watch. */
export interface Target {
  readonly id: string;
  readonly model: string;
  /** Root of its HTTP API, without a trailing slash. */
  readonly url: string;
  readonly gpus: readonly { readonly node: string; readonly index: number }[];
}

export interface TargetOptions {
  readonly intervalMs: number;
  readonly timeScale: number;
  readonly now: () => number;
}

/** One watched engine: `poll` takes a sample, `frame` says what is known now. */
export interface EngineTarget {
  /** Scrapes once; returns at once when the scrape before is still under way. Never throws. */
  poll(): Promise<void>;
  frame(): ScrapedFrame;
}

/** What an engine's own metrics say; its health is the gateway's to tell. */
export type ScrapedFrame = Omit<EngineFrame, "health">;

/** First tokens observed between two scrapes in a row. */
interface Step {
  readonly atMs: number;
  readonly ttftSeconds: Histogram | null;
}

/** Rates and percentiles look back over this much: some tens of requests at one a second or more, and still lively. */
const RATE_WINDOW_MS = 15_000;

/** Watches one engine. Its counters are read as differences, so that a restarted engine is no dip below zero. */
export function createEngineTarget(target: Target, { intervalMs, timeScale, now }: TargetOptions): EngineTarget {
  const timeoutMs = 2 * intervalMs;
  let polling = false;
  let version: string | null | undefined;
  let last: { readonly atMs: number; readonly reading: EngineReading } | null = null;
  let failure: Exclude<ScrapeResult, { ok: true }> | null = null;
  let steps: Step[] = [];
  const finished = createCounterRate({ windowMs: RATE_WINDOW_MS, timeScale });

  const take = (reading: EngineReading): void => {
    const atMs = now();
    if (last !== null) {
      const before = last.reading;
      steps.push({
        atMs,
        ttftSeconds:
          before.ttftSeconds === null || reading.ttftSeconds === null ? null : histogramDelta(before.ttftSeconds, reading.ttftSeconds),
      });
      steps = steps.filter((step) => step.atMs > atMs - RATE_WINDOW_MS);
    }
    finished.take(atMs, reading.finished);
    last = { atMs, reading };
  };

  const pollOnce = async (): Promise<void> => {
    if (version === undefined) version = await readVersion(target.url, timeoutMs);
    const url = `${target.url}/metrics`;
    const result = await scrape(url, { timeoutMs });
    failure = result.ok ? null : result;
    if (!result.ok) {
      // What answers next may be another build.
      version = undefined;
      return;
    }
    const metrics = parsePromText(result.text);
    const mapping = chooseMapping(metrics, version);
    if (mapping === undefined) failure = { ok: false, kind: "status", reason: `${url} has no metric of a known engine type` };
    else take(readEngine(metrics, mapping));
  };

  return {
    async poll() {
      if (polling) return;
      polling = true;
      try {
        await pollOnce();
      } finally {
        polling = false;
      }
    },
    frame() {
      const fresh = freshness({ nowMs: now(), intervalMs, lastGoodAtMs: last?.atMs ?? null, failure });
      const reading = fresh.state === "unreachable" ? null : (last?.reading ?? null);
      const absent = reading?.absent ?? [];
      return {
        id: target.id,
        model: target.model,
        gpus: target.gpus,
        state: fresh.state,
        ageSeconds: fresh.ageSeconds,
        reason: fresh.reason === "" && absent.length > 0 ? `absent: ${absent.join(", ")}` : fresh.reason,
        running: reading?.running ?? null,
        waiting: reading?.waiting ?? null,
        kvUse: reading?.kvUse ?? null,
        requestsPerSecond: reading === null ? null : finished.perSecond(),
        ttftP95Seconds: reading === null ? null : ttftP95(steps),
      };
    },
  };
}

function ttftP95(steps: readonly Step[]): number | null {
  const observed = histogramSum(steps.flatMap((step) => (step.ttftSeconds === null ? [] : [step.ttftSeconds])));
  return observed === null ? null : histogramQuantile(0.95, observed);
}

/** What the engine says its version is; null where it has no such answer. One that does not answer at all is not asked on. */
async function readVersion(url: string, timeoutMs: number): Promise<string | null> {
  for (const path of versionPaths) {
    const result = await scrape(url + path, { timeoutMs });
    const version = result.ok ? engineVersion(result.text) : null;
    if (version !== null) return version;
    if (!result.ok && result.kind !== "status") return null;
  }
  return null;
}
