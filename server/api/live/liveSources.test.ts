import { describe, expect, it } from "vitest";
import type { Decision, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import type { DecisionFilter, LiveEvent, LiveFrame, SeriesRange } from "@/server/contracts/studio";
import type { RangeRequest } from "@/server/series/seriesSource";
import { createTestClock } from "@/server/telemetry/testing/testClock";
import { columnSource, decisionSource, frameSource, passes } from "./liveSources";

const START_MS = Date.UTC(2026, 0, 1);
const frameAt = (atMs: number): LiveFrame => ({ atMs }) as LiveFrame;
const never = new AbortController().signal;
const silent = async function* (): AsyncGenerator<LiveFrame> {};
const timesOf = (events: readonly LiveEvent[]) =>
  events.map((event) => (event.kind === "frame" ? (event.frame.atMs - START_MS) / 1000 : null));

describe("frames of a tab", () => {
  const opened = (afterMs: number) => {
    const kept = Array.from({ length: 100 }, (_, second) => frameAt(START_MS + second * 1000));
    return { kept, source: frameSource({ frames: () => kept, follow: silent, afterMs, now: () => START_MS + 99_000 }) };
  };

  it("begin with those of the last minute, oldest first, so that a new tab waits for nothing", () => {
    const { source } = opened(0);
    expect(timesOf(source.take())).toEqual(Array.from({ length: 60 }, (_, at) => at + 40));
    expect(source.take()).toEqual([]);
  });

  it("begin after the last one that a tab which comes back has seen", () => {
    expect(timesOf(opened(START_MS + 97_000).source.take())).toEqual([98, 99]);
  });

  it("go on with the newest alone, whatever a slow reader missed", () => {
    const { kept, source } = opened(0);
    source.take();
    kept.push(frameAt(START_MS + 100_000), frameAt(START_MS + 101_000), frameAt(START_MS + 102_000));
    expect(timesOf(source.take())).toEqual([102]);
  });

  it("of a cluster that is coming up begin once it gives any", () => {
    const kept: LiveFrame[] = [];
    const source = frameSource({ frames: () => kept, follow: silent, afterMs: 0, now: () => START_MS });
    expect(source.take()).toEqual([]);
    kept.push(frameAt(START_MS + 1_000), frameAt(START_MS + 2_000));
    expect(timesOf(source.take())).toEqual([1, 2]);
  });
});

describe("charts of a tab", () => {
  /**
   * Follows for some rounds of a second, and takes the available items after each.
   * @param answer the answer to a range request.
   */
  async function followed(
    rounds: number,
    options: {
      spanMs?: number;
      everyMs?: number;
      takes?: (round: number) => boolean;
      problemsAt?: (nowMs: number) => string[];
      setAt?: (round: number) => number;
    },
  ) {
    const { spanMs = 60_000, everyMs = 1_000, takes = () => true, problemsAt = () => [], setAt = () => 0 } = options;
    const clock = createTestClock(START_MS + 200);
    const asked: RangeRequest[] = [];
    const given: (readonly [round: number, range: SeriesRange])[] = [];
    const source = columnSource({
      charts: { spanMs, points: 60, series: [{ subject: "gateway", quantity: "requestsPerSecond" }] },
      everyMs,
      clock,
      async range(request) {
        asked.push(request);
        const { fromMs, toMs, bucketMs } = request;
        const atMs = [Math.floor(fromMs / bucketMs) * bucketMs, Math.floor((toMs - 1) / bucketMs) * bucketMs];
        return { bucketMs, atMs: [...new Set(atMs)], series: [], problems: problemsAt(clock.wallMs()) };
      },
      async *follow() {
        for (let round = 1; round <= rounds; round += 1) {
          clock.pass(1_000);
          clock.set(clock.wallMs() + setAt(round));
          yield frameAt(clock.wallMs());
          take(round);
        }
      },
    });
    const take = (round: number): void => {
      if (!takes(round)) return;
      for (const event of source.take()) if (event.kind === "columns") given.push([round, event.range]);
    };
    let toldFirst = false;
    await source.watch(() => {
      if (!toldFirst) take(0);
      toldFirst = true;
    }, never);
    const secondsOf = ({ fromMs, toMs }: RangeRequest) => [(fromMs - START_MS) / 1000, (toMs - START_MS) / 1000];
    return { asked: asked.map(secondsOf), given };
  }

  it("come whole at first, then from the newest bucket on that was given", async () => {
    const { asked, given } = await followed(3, {});
    expect(asked).toEqual([
      [-59.8, 0.201],
      [0, 1.201],
      [1, 2.201],
      [2, 3.201],
    ]);
    expect(given.map(([round]) => round)).toEqual([0, 1, 2, 3]);
  });

  it("come on and whole when the clock is set back, instead of not until it has made up for that", async () => {
    const { asked, given } = await followed(4, { setAt: (round) => (round === 2 ? -3_600_000 : 0) });
    expect(given.map(([round]) => round)).toEqual([0, 1, 2, 3, 4]);
    expect(asked.map(([from]) => from)).toEqual([-59.8, 0, -3_657.8, -3_598, -3_597]);
  });

  it("are not read again while what was read waits for its reader", async () => {
    const { asked, given } = await followed(20, { takes: (round) => round === 0 || round === 20 });
    expect(asked).toEqual([
      [-59.8, 0.201],
      [0, 1.201],
    ]);
    expect(given.map(([round]) => round)).toEqual([0, 20]);
  });

  it("are read from a Prometheus no more often than it wants to be asked", async () => {
    expect((await followed(20, { everyMs: 5_000 })).given.map(([round]) => round)).toEqual([0, 5, 10, 15, 20]);
  });

  it("of wide buckets come several times a bucket, and not every second", async () => {
    const day = await followed(60, { spanMs: 3_600_000 });
    expect(day.given.map(([round]) => round)).toEqual([0, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60]);
    const month = await followed(30, { spanMs: 30 * 86_400_000 });
    expect(month.given.map(([round]) => round)).toEqual([0, 10, 20, 30]);
  });

  it("are read whole once more when what could not be read can be again, so that no gap stays", async () => {
    const away = (nowMs: number) => (nowMs > START_MS + 2_000 && nowMs < START_MS + 4_000 ? ["It is away."] : []);
    const { asked } = await followed(6, { problemsAt: away });
    expect(asked.map(([from]) => from)).toEqual([-59.8, 0, 1, -56.8, 3, -54.8, 5]);
  });
});

describe("decision records of a tab", () => {
  const record = (id: number, status = 200) => ({ id: String(id), status, stages: [], endToEndSeconds: 1 }) as unknown as Decision;
  const any = { outcome: "any", model: null, replica: null, slowerThanSeconds: null, text: null } as const;
  const idsOf = (events: readonly LiveEvent[]) =>
    events.map((event) => (event.kind === "decisions" ? [event.records.map(({ id }) => id), event.matched, event.looked] : null));

  it("are the newest sixty that pass, then those that came since, counted over all", () => {
    let kept = Array.from({ length: 200 }, (_, at) => record(200 - at, at % 2 === 0 ? 500 : 200));
    const source = decisionSource({ ...any, outcome: "failed" }, () => kept);
    expect(idsOf(source.take())).toEqual([[Array.from({ length: 60 }, (_, at) => String(200 - 2 * at)), 100, 200]]);
    expect(source.take()).toEqual([]);
    kept = [record(203, 429), record(202), record(201, 500), ...kept];
    expect(idsOf(source.take())).toEqual([[["203", "201"], 102, 203]]);
    kept = [record(204), ...kept];
    expect(idsOf(source.take())).toEqual([[[], 102, 204]]);
  });

  it("say at once that there are none", () => {
    const source = decisionSource(any, () => []);
    expect(idsOf(source.take())).toEqual([[[], 0, 0]]);
    expect(source.take()).toEqual([]);
  });

  it("are no more than sixty at a time after a burst, and all of it counts", () => {
    let kept: Decision[] = [record(0)];
    const source = decisionSource(any, () => kept);
    source.take();
    kept = [...Array.from({ length: 5_000 }, (_, at) => record(5_000 - at)), ...kept];
    const [event] = source.take();
    expect(event).toMatchObject({ matched: 5_001, looked: 5_001 });
    expect(event?.kind === "decisions" && event.records).toHaveLength(60);
  });
});

const stage: StageRecord = {
  model: "small",
  replica: "small-1",
  queueSeconds: 0,
  seconds: 1,
  judgeSeconds: null,
  judgedScore: null,
  threshold: null,
  verdict: "accepted",
  reason: "",
  inputTokens: null,
  outputTokens: null,
};
const judged = (verdict: StageRecord["verdict"], judgedScore: number | null): StageRecord => ({
  ...stage,
  judgeSeconds: 0.1,
  judgedScore,
  verdict,
});
const decision = (id: string, change: Partial<Decision> = {}): Decision => ({
  sequence: 1,
  id,
  planId: "p",
  policyHash: "h",
  finishedAtMs: 0,
  status: 200,
  reason: "",
  stages: [judged("accepted", 80)],
  ttftSeconds: null,
  endToEndSeconds: 1,
  overheadSeconds: 0,
  ...change,
});
const large = { ...stage, model: "large", replica: "large-1" };
const records = [
  decision("plain"),
  decision("Escalated-7", { stages: [judged("escalated", 10), large], endToEndSeconds: 4 }),
  decision("unjudged", { stages: [judged("accepted", null)], program: "Agent-7" }),
  decision("last-stage", { stages: [large] }),
  decision("shed", { status: 429, stages: [] }),
  decision("left", { status: 499, stages: [judged("failed", null)] }),
];
const any: DecisionFilter = { outcome: "any", model: null, replica: null, slowerThanSeconds: null, text: null };

it.each<[string, Partial<DecisionFilter>, readonly string[]]>([
  ["every record", {}, ["plain", "Escalated-7", "unjudged", "last-stage", "shed", "left"]],
  ["answered ones", { outcome: "answered" }, ["plain", "Escalated-7", "unjudged", "last-stage"]],
  ["those that ended in any error", { outcome: "failed" }, ["shed", "left"]],
  ["those sent on to another stage", { outcome: "escalated" }, ["Escalated-7"]],
  ["those accepted for want of a score, not those that need none", { outcome: "unjudged" }, ["unjudged"]],
  ["those that reached a model", { model: "large" }, ["Escalated-7", "last-stage"]],
  ["those that reached an engine", { replica: "large-1" }, ["Escalated-7", "last-stage"]],
  ["those slower than a bound, which itself is not slower", { slowerThanSeconds: 1 }, ["Escalated-7"]],
  ["those with a text in the id or the program, in any case", { text: "-7" }, ["Escalated-7", "unjudged"]],
  ["those with a text, in any case", { text: "AGENT" }, ["unjudged"]],
  ["every record for an empty text", { text: "" }, ["plain", "Escalated-7", "unjudged", "last-stage", "shed", "left"]],
  ["those for which all that is set holds", { outcome: "answered", model: "large", slowerThanSeconds: 2 }, ["Escalated-7"]],
])("finds %s", (_, change, ids) => {
  expect(records.filter((record) => passes(record, { ...any, ...change })).map(({ id }) => id)).toEqual(ids);
});
