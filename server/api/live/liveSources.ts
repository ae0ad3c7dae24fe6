import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { DecisionFilter, FollowedCharts, LiveEvent, LiveFrame, SeriesRange } from "@/server/contracts/studio";
import { bucketWidth } from "@/server/series/bucketWidth";
import type { RangeRequest } from "@/server/series/seriesSource";
import { type Clock, systemClock } from "@/server/telemetry/clock";
import { isUnjudged } from "@/solver/gates/gates";
import type { NewsSource } from "./newsStream";

type LiveSource = NewsSource<LiveEvent>;

/** Past frames that a new tab gets: sparklines begin with them. */
const EARLIER_FRAMES_MS = 60_000;

/** Most records at a time: more cannot be read while they pass. */
const RECORDS = 60;

/** Intervals between tails of charts: at least `least`; for wide buckets, each of which changes little, a tenth of a bucket. */
const TAIL_MS = { least: 500, most: 10_000, ofBucket: 0.1 };

/** Frames come a little early or late. */
const TOLERANCE_MS = 250;

export interface FrameSourceOptions {
  readonly frames: () => readonly LiveFrame[];
  /** New frames, as they arrive. */
  readonly follow: (signal: AbortSignal) => AsyncIterable<LiveFrame>;
  /** Frames that the tab has already received are omitted. */
  readonly afterMs: number;
  readonly now?: () => number;
}

/** First the frames of the last minute, then the newest one each time. */
export function frameSource({ frames, follow, afterMs, now = Date.now }: FrameSourceOptions): LiveSource {
  let seenMs = Math.max(afterMs, now() - EARLIER_FRAMES_MS);
  let first = true;
  return {
    take() {
      const fresh = frames().filter(({ atMs }) => atMs > seenMs);
      const given = first ? fresh : fresh.slice(-1);
      seenMs = fresh.at(-1)?.atMs ?? seenMs;
      first &&= fresh.length === 0;
      return given.map((frame) => ({ kind: "frame", frame }));
    },
    async watch(tell, signal) {
      for await (const _ of follow(signal)) tell();
    },
  };
}

export interface ColumnSourceOptions {
  readonly charts: FollowedCharts;
  readonly range: (request: RangeRequest) => Promise<SeriesRange>;
  /** As in `SeriesSource`. */
  readonly everyMs: number;
  /** New frames, with which new samples arrive. */
  readonly follow: (signal: AbortSignal) => AsyncIterable<LiveFrame>;
  readonly clock?: Clock;
}

/**
 * Charts up to the present: first their whole span, then buckets from the newest one on. Nothing more is read until the reader has taken
 * the last result.
 */
export function columnSource({ charts, range, everyMs, follow, clock = systemClock }: ColumnSourceOptions): LiveSource {
  const { spanMs, points, series } = charts;
  const bucketMs = bucketWidth(spanMs, points);
  const tailMs = Math.max(everyMs, TAIL_MS.least, Math.min(TAIL_MS.most, TAIL_MS.ofBucket * bucketMs));
  let waiting: SeriesRange | null = null;
  let newestMs: number | null = null;
  let problems: string | null = null;
  let dueMs = Number.NEGATIVE_INFINITY;

  async function read(): Promise<void> {
    const nowMs = clock.wallMs();
    dueMs = clock.steadyMs() + tailMs - TOLERANCE_MS;
    const wholeMs = nowMs - spanMs;
    // If the wall clock was set back, the newest bucket is still in the future.
    const fromMs = newestMs === null || newestMs > nowMs ? wholeMs : Math.max(newestMs, wholeMs);
    const answer = await range({ fromMs, toMs: nowMs + 1, bucketMs, series });
    const told = answer.problems.join("\n");
    // A series that could be read again after a failure fills its gap: then everything is read once more.
    newestMs = problems !== null && told !== problems ? null : (answer.atMs.at(-1) ?? newestMs);
    problems = told;
    waiting = answer;
  }

  return {
    take() {
      const taken = waiting;
      waiting = null;
      return taken === null ? [] : [{ kind: "columns", range: taken }];
    },
    async watch(tell, signal) {
      await read();
      tell();
      for await (const _ of follow(signal)) {
        if (waiting !== null || clock.steadyMs() < dueMs) continue;
        await read();
        tell();
      }
    },
  };
}

/**
 * The newest records that pass, then those that arrived since; they are filtered when frames arrive.
 * @param latest newest first.
 */
export function decisionSource(filter: DecisionFilter, latest: () => readonly Decision[]): LiveSource {
  let seen: Decision | null = null;
  let matched = 0;
  let looked = 0;
  let first = true;
  return {
    take() {
      const all = latest();
      const before = seen === null ? -1 : all.indexOf(seen);
      const fresh = before === -1 ? all : all.slice(0, before);
      if (fresh.length === 0 && !first) return [];
      const found = fresh.filter((decision) => passes(decision, filter));
      first = false;
      seen = all[0] ?? null;
      matched += found.length;
      looked += fresh.length;
      return [{ kind: "decisions", records: found.slice(0, RECORDS), matched, looked }];
    },
    watch: async () => undefined,
  };
}

const isAnswered = ({ status }: Decision): boolean => status < 400;

const outcomes: Readonly<Record<DecisionFilter["outcome"], (decision: Decision) => boolean>> = {
  any: () => true,
  answered: isAnswered,
  failed: (decision) => !isAnswered(decision),
  escalated: ({ stages }) => stages.some(({ verdict }) => verdict === "escalated"),
  unjudged: ({ stages }) => stages.some(isUnjudged),
};

/** Whether a record passes an operator's filter. The text search ignores case. */
export function passes(decision: Decision, { outcome, model, replica, slowerThanSeconds, text }: DecisionFilter): boolean {
  const { id, program = "", stages, endToEndSeconds } = decision;
  const looked = text?.toLowerCase() ?? "";
  return (
    outcomes[outcome](decision) &&
    (model === null || stages.some((stage) => stage.model === model)) &&
    (replica === null || stages.some((stage) => stage.replica === replica)) &&
    (slowerThanSeconds === null || endToEndSeconds > slowerThanSeconds) &&
    (looked === "" || id.toLowerCase().includes(looked) || program.toLowerCase().includes(looked))
  );
}
