import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { ArrivalsChoice, Segment } from "@/server/contracts/studio";
import { createSeriesBook, type SeriesBook } from "@/server/series/seriesBook";
import { openStore, type Store } from "@/server/store/store";
import { createDecisionWindow } from "@/server/telemetry/decisionWindow";
import { generatedWorkload } from "@/solver/workload/generated";
import type { ArrivalsGround } from "./findArrivals";
import { previewArrivals } from "./previewArrivals";
import { resolveArrivals } from "./resolveArrivals";

const NOON = Date.UTC(2026, 0, 15, 12);
const HOUR_MS = 3_600_000;
const day: Segment = { name: "day", fromHour: 8, toHour: 20 };
const night: Segment = { name: "night", fromHour: 20, toHour: 8 };

let folder: string;
let store: Store;
let series: SeriesBook;
let nowMs: number;
let decisions: Decision[];
let timeScale: number;
const workload = generatedWorkload({ prompts: 20, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 1 });
const trace = [
  "TIMESTAMP,tokens",
  "2026-01-15 07:59:00,1",
  "2026-01-15 08:01:00,1",
  "2026-01-15 19:59:59,1",
  "2026-01-15 20:10:00,1",
  "2026-01-16 02:00:00,1",
];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-arrivals-"));
  store = openStore(folder);
  nowMs = NOON;
  timeScale = 1;
  decisions = [];
  series = createSeriesBook({ clusterId: "c", repository: store.rollUps, now: () => nowMs, intervalMs: 10_000 });
});
afterEach(async () => {
  await series.close();
  store.close();
  rmSync(folder, { recursive: true });
});

const ground: ArrivalsGround = {
  openUpload: (id) => (id === "kept" ? { name: "trace.csv", stream: Readable.from([trace.join("\n")]) } : null),
  workloadOf: (id) => (id === "w" ? workload : null),
  clusterOf(id) {
    if (id !== "c") return null;
    const window = createDecisionWindow({ timeScale, clock: { wallMs: () => nowMs, steadyMs: () => nowMs } });
    window.add(decisions);
    return { collector: () => ({ decisions: window.latest }), series, timeScale: () => timeScale };
  },
  clusterName: () => "the cluster",
  now: () => nowMs,
};

async function resolved(arrivals: ArrivalsChoice, segments: readonly Segment[] = [], timeZone = "UTC") {
  const answer = await resolveArrivals({ arrivals, segments, timeZone }, ground);
  if (!answer.ok) throw new Error(answer.message);
  return answer.parts;
}
async function refused(arrivals: ArrivalsChoice, segments: readonly Segment[] = [], timeZone = "UTC"): Promise<string> {
  const answer = await resolveArrivals({ arrivals, segments, timeZone }, ground);
  return answer.ok ? "" : answer.message;
}

const decision = (finishedAtMs: number, endToEndSeconds: number, status = 200): Decision => ({
  ...{ sequence: 0, id: "", planId: "p", policyHash: "h", finishedAtMs, status, reason: "" },
  ...{ stages: [], ttftSeconds: null, endToEndSeconds, overheadSeconds: 0 },
});

/** A round every ten seconds from one time to another. */
function watch(fromMs: number, toMs: number, values: Readonly<Record<string, (atMs: number) => number>>): void {
  for (let atMs = fromMs; atMs < toMs; atMs += 10_000) {
    nowMs = atMs;
    for (const [key, value] of Object.entries(values)) {
      const [subject = "", quantity = ""] = key.split(" ");
      series.append(atMs, subject, quantity, value(atMs));
    }
  }
}

it("generates bursty arrivals, and takes those of another workload as they are", async () => {
  const [generated] = await resolved({ kind: "generated" });
  expect(generated?.origin).toMatch(/^generated: Gamma renewal process/);
  const [other] = await resolved({ kind: "workload", workloadId: "w" });
  expect(other?.arrivalSeconds).toEqual(workload.arrivalSeconds);
  expect(other?.origin).toBe(`those of ${workload.name}: ${workload.origin.arrivals}`);
});

it("refuses what it does not have in one sentence with the way out", async () => {
  expect(await refused({ kind: "workload", workloadId: "x" })).toBe("There is no workload x: choose another.");
  expect(await refused({ kind: "upload", uploadId: "gone" })).toBe("The uploaded file is not kept any more: send it again.");
  expect(await refused({ kind: "gateway", clusterId: "x" })).toMatch(/not connected to the cluster/);
  expect(await refused({ kind: "generated" }, [day])).toMatch(/at no hour of the day/);
  expect(await refused({ kind: "upload", uploadId: "kept" }, [day], "Mars/Base")).toMatch(/no time zone Mars\/Base/);
});

describe("an uploaded trace", () => {
  it("is cut into parts of the day of a time zone, laid end to end", async () => {
    const [whole] = await resolved({ kind: "upload", uploadId: "kept" });
    expect(Array.from(whole?.arrivalSeconds ?? [])).toEqual([0, 120, 43_259, 43_860, 64_860]);
    const [byDay, byNight] = await resolved({ kind: "upload", uploadId: "kept" }, [day, night]);
    expect(Array.from(byDay?.arrivalSeconds ?? [])).toEqual([0, 43_139]);
    // Known from 07:59: a minute of that night, then from 20:00 on.
    expect(Array.from(byNight?.arrivalSeconds ?? [])).toEqual([0, 660, 21_660]);
    expect(byNight?.origin).toBe(
      `${whole?.origin}; of them the segment night, 20:00 to 08:00 in UTC, laid end to end without the time between`,
    );
  });

  it("counts hours by the clock of the zone that was asked for", async () => {
    const [byDay] = await resolved({ kind: "upload", uploadId: "kept" }, [{ ...day, fromHour: 9, toHour: 21 }], "Europe/Berlin");
    expect(byDay?.arrivalSeconds.length).toBe(2);
  });

  it("is refused for a segment in which too little came", async () => {
    expect(await refused({ kind: "upload", uploadId: "kept" }, [day, { name: "noon", fromHour: 12, toHour: 13 }])).toBe(
      'There are no arrivals in the segment "noon": a workload needs at least 2.',
    );
  });
});

describe("the records of a gateway", () => {
  it("tell when requests came: answered less how long they took, shed ones too, in engine seconds", async () => {
    timeScale = 10;
    decisions = [decision(NOON, 20), decision(NOON + 1000, 5), decision(NOON + 1000, 0, 429)];
    const [part] = await resolved({ kind: "gateway", clusterId: "c" });
    // Arrived at -2 s, 0.5 s and 1 s of wall time.
    expect(Array.from(part?.arrivalSeconds ?? [])).toEqual([0, 25, 30]);
    expect(part?.origin).toMatch(
      /^records of the gateway of the cluster: 3 requests in 3 s until 2026-01-15T12:00:01Z, all that are kept, 1 of them shed or failed; emulated, 10 seconds in one of the wall$/,
    );
  });

  it("are refused where they tell of fewer than two requests, or of all at once", async () => {
    expect(await refused({ kind: "gateway", clusterId: "c" })).toMatch(
      /no arrivals in the records of the gateway of the cluster.*Send it traffic/,
    );
    decisions = [decision(NOON, 1), decision(NOON, 1)];
    expect(await refused({ kind: "gateway", clusterId: "c" })).toMatch(/at one time/);
  });
});

describe("counters", () => {
  const span = { kind: "counters", clusterId: "c", fromMs: NOON, toMs: NOON + 2 * HOUR_MS } as const;

  it("give arrivals at the gateway's rates, what failed and was shed with it, and leave gaps out", async () => {
    const gateway = { "gateway requestsPerSecond": () => 2, "gateway errorsPerSecond": () => 0.5, "gateway shedPerSecond": () => 0.5 };
    watch(NOON, NOON + HOUR_MS / 2, { ...gateway, "engine:a requestsPerSecond": () => 50 });
    watch(NOON + HOUR_MS, NOON + 2 * HOUR_MS, gateway);
    nowMs = NOON + 2 * HOUR_MS;
    const [part] = await resolved(span);
    const count = part?.arrivalSeconds.length ?? 0;
    // 5,400 s at 3 requests/s; six standard deviations.
    expect(Math.abs(count - 16_200)).toBeLessThan(6 * Math.sqrt(16_200 / 0.862));
    expect(part?.arrivalSeconds.at(-1)).toBeLessThan(5_440);
    expect(part?.origin).toMatch(
      /^counters of the gateway of the cluster, answered, failed and shed, 2026-01-15T12:00:00Z to 2026-01-15T14:00:00Z in steps of 10 s, 1800 s without a reading left out; modelled within each/,
    );
  });

  it("give those of the engines together where nothing went through the gateway, and say what that counts", async () => {
    watch(NOON, NOON + HOUR_MS, {
      "gateway requestsPerSecond": () => 0,
      "engine:a requestsPerSecond": () => 1,
      "engine:b requestsPerSecond": (atMs) => (atMs < NOON + HOUR_MS / 2 ? 1 : 3),
    });
    const [part] = await resolved({ ...span, toMs: NOON + HOUR_MS });
    const arrivals = part?.arrivalSeconds ?? new Float64Array();
    expect(Math.abs(arrivals.filter((at) => at < 1800).length - 3600)).toBeLessThan(6 * Math.sqrt(3600 / 0.862));
    expect(Math.abs(arrivals.filter((at) => at >= 1800).length - 7200)).toBeLessThan(6 * Math.sqrt(7200 / 0.862));
    expect(part?.origin).toMatch(/^counters of 2 engines of the cluster, where a request counts at each engine that answered it/);
  });

  it("count an engine that was not read for a while as before, and tell of that and of engines seen in a part only", async () => {
    const both = { "engine:a requestsPerSecond": () => 1, "engine:b requestsPerSecond": () => 3 };
    watch(NOON, NOON + HOUR_MS / 4, both);
    watch(NOON + HOUR_MS / 4, NOON + HOUR_MS / 2, { "engine:a requestsPerSecond": () => 1 });
    watch(NOON + HOUR_MS / 2, NOON + (HOUR_MS * 3) / 4, both);
    watch(NOON + (HOUR_MS * 3) / 4, NOON + HOUR_MS, { "engine:a requestsPerSecond": () => 1 });
    nowMs = NOON + HOUR_MS;
    const [part] = await resolved({ ...span, toMs: NOON + HOUR_MS });
    const arrivals = part?.arrivalSeconds ?? new Float64Array();
    expect(Math.abs(arrivals.filter((at) => at < 2700).length - 10_800)).toBeLessThan(6 * Math.sqrt(10_800 / 0.862));
    expect(Math.abs(arrivals.filter((at) => at >= 2700).length - 900)).toBeLessThan(6 * Math.sqrt(900 / 0.862));
    expect(part?.origin).toMatch(/, 1 of them seen in a part of the span only and counted as none in the rest, 14 % of readings missing/);
  });

  it("keep their clock, so that segments are those hours of the wall and unknown hours have no rate", async () => {
    watch(NOON, NOON + 2 * HOUR_MS, { "gateway requestsPerSecond": (atMs) => (atMs < NOON + HOUR_MS ? 4 : 1) });
    const segments = [
      { name: "busy", fromHour: 13, toHour: 14 },
      { name: "quiet", fromHour: 14, toHour: 15 },
    ];
    const answer = await previewArrivals({ arrivals: span, segments, timeZone: "Europe/Berlin" }, ground);
    if (!answer.ok) throw new Error(answer.message);
    const { segments: told, byHour } = answer.preview;
    expect(told.map(({ name, requestsPerSecond }) => `${name} ${Math.round(requestsPerSecond)}`)).toEqual(["busy 4", "quiet 1"]);
    expect(byHour?.map((rate) => (rate === null ? null : Math.round(rate))).slice(12, 16)).toEqual([null, 4, 1, null]);
  });

  it("are refused for a span without data, one that is yet to come, and one without traffic", async () => {
    nowMs = NOON - HOUR_MS;
    expect(await refused(span)).toMatch(/The span ends before it begins, or is yet to come/);
    nowMs = NOON + 2 * HOUR_MS;
    expect(await refused(span)).toMatch(/Nothing is known of the cluster in that span/);
    watch(NOON, NOON + HOUR_MS, { "gateway requestsPerSecond": () => 0 });
    expect(await refused(span)).toMatch(/no arrivals at the rates that the cluster had in that span/);
  });
});

describe("typed hours", () => {
  const hours = (rateOf: (hour: number) => number): ArrivalsChoice => ({
    kind: "hours",
    requestsPerSecond: Array.from({ length: 24 }, (_, hour) => rateOf(hour)),
  });

  it("are a day whose night goes on in its morning", async () => {
    const arrivals = hours((hour) => (hour >= 22 ? 2 : hour < 6 ? 1 : 0));
    const [part, none] = [
      await resolved(arrivals, [night], "Asia/Tokyo"),
      await refused(arrivals, [{ name: "noon", fromHour: 11, toHour: 13 }]),
    ];
    const seconds = part[0]?.arrivalSeconds ?? new Float64Array();
    const inHour = (hour: number): number => seconds.filter((at) => at >= (hour - 2) * 3600 && at < (hour - 1) * 3600).length;
    // Its first arrival is soon after 22:00.
    expect(Math.abs(inHour(2) - 7200)).toBeLessThan(600);
    expect(Math.abs(inHour(5) - 3600)).toBeLessThan(400);
    expect(part[0]?.origin).toMatch(/the segment night, 20:00 to 08:00 of the day/);
    expect(none).toMatch(/no arrivals in the segment "noon"/);
  });

  it("are refused where all are 0, or where they are more than a workload takes", async () => {
    expect(await refused(hours(() => 0))).toBe("All hours are 0: give at least one of them a rate.");
    expect(await refused(hours(() => 50))).toMatch(
      /That is 4,320,000 arrivals, and a workload takes at most a million: give smaller rates/,
    );
  });
});
