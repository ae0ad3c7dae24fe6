import type { EngineAccess } from "@/server/contracts/engine/engineAccess";
import type { EngineFrame, EngineReadingName, EngineReadings, Sample } from "@/server/contracts/studio";
import { chooseMapping } from "@/server/engines/chooseMapping";
import type { EngineMapping } from "@/server/engines/engineMapping";
import { engineVersion, versionPaths } from "@/server/engines/engineVersion";
import type { PromText } from "@/server/engines/promText";
import { readCanonicalMetrics } from "@/server/engines/readCanonicalMetrics";
import type { Clock } from "./clock";
import { createEngineWindow, type Observed } from "./engineWindow";
import { type MetricsResult, type ScrapeFailure, type ScrapeOptions, scrape, scrapeMetrics } from "./scrape";
import type { ScrapeFacts } from "./studioMetrics";
import { createTargetHealth, type TargetHealth } from "./targetHealth";

/** An engine to watch. */
export interface Target {
  readonly id: string;
  readonly model: string;
  /** Root of its HTTP API, without a trailing slash. */
  readonly url: string;
  readonly gpus: readonly { readonly node: string; readonly index: number }[];
  /** Its key and authorities; absent: no authentication. */
  readonly access?: EngineAccess;
}

export interface TargetOptions {
  readonly intervalMs: number;
  readonly timeScale: number;
  readonly clock: Clock;
  /** Called with the result of each scrape. */
  readonly onScrape: (facts: ScrapeFacts) => void;
}

/** One watched engine: `poll` takes a sample, `frame` returns the present state. */
export interface EngineTarget extends Pick<TargetHealth, "isDue" | "isFailing"> {
  /** Scrapes once; the previous scrape has ended. Never throws. */
  poll(): Promise<void>;
  frame(): ScrapedFrame;
  /** Its recent latencies; null while it is not fresh. */
  observed(): Observed | null;
}

/** From an engine's own metrics; its health comes from the gateway. */
type ScrapedFrame = Omit<EngineFrame, "health" | "healthSinceMs">;

type Scraped = Extract<MetricsResult, { ok: true }>;

/** Paths of engines' metrics; the second is used by trtllm-serve, whose `/metrics` is other text. */
const metricsPaths = ["/metrics", "/prometheus/metrics"] as const;

/** An engine's version is read again after this many scrapes: an idle engine that was replaced quickly shows no other sign. */
const VERSION_SCRAPES = 30;

/** Watches one engine. Its counters are read as differences, so that a restarted engine causes no negative rate. */
export function createEngineTarget(target: Target, options: TargetOptions): EngineTarget {
  const { intervalMs, timeScale, clock, onScrape } = options;
  const asking: ScrapeOptions = { timeoutMs: 2 * intervalMs, access: target.access };
  const health = createTargetHealth({ intervalMs, clock });
  let path: string | null = null;
  let version: string | null = null;
  let scrapesToVersion = 0;
  let startedAtSeconds: number | null = null;
  let mapping: EngineMapping | null = null;
  let window = createEngineWindow(timeScale);
  let unread = "";

  const askVersion = async (): Promise<void> => {
    if (scrapesToVersion > 0) {
      scrapesToVersion -= 1;
      return;
    }
    const told = await readVersion(target.url, asking);
    // Read again with the next scrape.
    if (told === undefined) return;
    version = told;
    scrapesToVersion = VERSION_SCRAPES;
  };

  /** The newest sample compared with the previous one. */
  const take = (metrics: PromText, chosen: EngineMapping, atMs: number): void => {
    if (mapping !== chosen) {
      if (mapping !== null && mapping.engine !== chosen.engine)
        health.note("version-changed", `It was ${mapping.engine} and is ${chosen.engine}.`);
      mapping = chosen;
      window = createEngineWindow(timeScale);
    }
    const fell = window.take(atMs, readCanonicalMetrics(metrics, chosen));
    const started = metrics.byName.get("process_start_time_seconds")?.[0]?.value ?? null;
    const restarted = started !== null && startedAtSeconds !== null && started > startedAtSeconds;
    startedAtSeconds = started;
    if (fell.length === 0 && !restarted) return;
    const sign = restarted
      ? "its process is another"
      : `${fell.slice(0, 3).map(inWords).join(", ")}${fell.length > 3 ? " and others" : ""} fell`;
    health.note("counters-reset", `Its counters were reset: ${sign}.`);
    // An engine whose counters restarted may be another build.
    scrapesToVersion = 0;
  };

  const failed = (failure: ScrapeFailure, startedAtMs: number): ScrapeFailure => {
    path = null;
    // The next process that answers may be another build.
    scrapesToVersion = 0;
    health.failed(failure, startedAtMs);
    return failure;
  };

  const pollOnce = async (startedAtMs: number): Promise<MetricsResult> => {
    const result = await scrapeFrom(target.url, path, asking);
    const atMs = clock.steadyMs();
    if (!result.ok) return failed(result, startedAtMs);
    const before = version;
    await askVersion();
    const chosen = chooseMapping(result.metrics, version);
    if (chosen === undefined) return failed(unreadable(target.url + result.path), startedAtMs);
    path = result.path;
    health.succeeded();
    if (before !== null && version !== null && before !== version) {
      health.note("version-changed", `Its version was ${before} and is ${version}.`);
    }
    take(result.metrics, chosen, atMs);
    unread = unreadLines(result.metrics);
    return result;
  };

  return {
    isDue: health.isDue,
    isFailing: health.isFailing,
    async poll() {
      const startedAtMs = clock.steadyMs();
      const result = await pollOnce(startedAtMs);
      onScrape({
        kind: "engine",
        seconds: (clock.steadyMs() - startedAtMs) / 1000,
        ok: result.ok,
        badLines: result.ok ? result.metrics.badLines : 0,
      });
    },
    observed: () => (health.state().state === "fresh" ? window.observed() : null),
    frame() {
      const state = health.state();
      const readings = state.state === "unreachable" ? null : window.readings();
      const known = (name: EngineReadingName): Sample => {
        const reading = readings?.[name];
        return reading?.state === "value" ? reading.value : null;
      };
      return {
        ...state,
        id: target.id,
        model: target.model,
        engine: mapping === null ? null : { type: mapping.engine, version },
        gpus: target.gpus,
        reason:
          state.reason === "" && readings !== null
            ? [unread, absentNames(readings)].filter((part) => part !== "").join("; ")
            : state.reason,
        running: known("running"),
        waiting: known("waiting"),
        kvUse: known("kvUse"),
        requestsPerSecond: known("requestsPerSecond"),
        ttftP95Seconds: known("ttftP95Seconds"),
        readings,
      };
    },
  };
}

/** `promptTokens` as prompt tokens. */
const inWords = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function absentNames(readings: EngineReadings): string {
  const names = Object.values(readings).flatMap((reading) => (reading.state === "absent" ? [reading.lookedFor] : []));
  return names.length === 0 ? "" : `absent: ${[...new Set(names)].join(", ")}`;
}

function unreadLines({ badLines, bad }: PromText): string {
  const [first] = bad;
  return first === undefined ? "" : `${badLines} of its lines could not be read, the first is line ${first.line}: ${first.reason}`;
}

const unreadable = (url: string): ScrapeFailure => ({
  ok: false,
  kind: "unreadable",
  reason: `${url} has no metric of a known engine type`,
});

/** Scrapes the path that is known to have metrics, or else each; of several failures the first is reported. */
async function scrapeFrom(
  url: string,
  known: string | null,
  asking: ScrapeOptions,
): Promise<(Scraped & { readonly path: string }) | ScrapeFailure> {
  let first: ScrapeFailure | undefined;
  for (const path of known === null ? metricsPaths : [known]) {
    const result = await scrapeMetrics(url + path, asking);
    if (result.ok && (known !== null || chooseMapping(result.metrics, null) !== undefined)) return { ...result, path };
    first ??= result.ok ? unreadable(url + path) : result;
    if (!result.ok && result.kind !== "status") break;
  }
  return first ?? unreadable(url);
}

/** The engine's version; null if it does not report one, undefined if it did not answer. */
async function readVersion(url: string, asking: ScrapeOptions): Promise<string | null | undefined> {
  for (const path of versionPaths) {
    const result = await scrape(url + path, asking);
    const version = result.ok ? engineVersion(result.text) : null;
    if (version !== null) return version;
    if (!result.ok && result.kind !== "status") return undefined;
  }
  return null;
}
