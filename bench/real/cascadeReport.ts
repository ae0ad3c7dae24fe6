import { table } from "../lib/tables";
import type { CascadeFigures } from "./cascadeFigures";
import { ALONE_RATES, FLOOR } from "./cascadePlans";
import { ms } from "./milliseconds";
import type { Records } from "./records";
import { checkOrder } from "./summary";

type What = "cascade" | "alone";

/** Figures of an earlier measurement of vLLM with other, similar models on 2 cores: p95, ms. Alone: one engine. */
const EARLIER: Readonly<Record<What, Readonly<Record<number, readonly [predicted: number, measured: number]>>>> = {
  alone: { 5: [42, 62], 10: [43, 54], 20: [46, 58], 40: [49, 63], 100: [62, 112], 160: [83, 239], 250: [167, 2711] },
  cascade: { 5: [340, 111], 10: [341, 120], 20: [343, 154], 40: [346, 234], 70: [350, 317], 100: [354, 593] },
};

/** One rate of one kind of plan. */
export interface Row {
  readonly engine: string;
  readonly what: What;
  readonly rate: number;
  readonly predicted: CascadeFigures;
  readonly measured: CascadeFigures;
}

/** @throws Error where a run began before its prediction was stored. */
export function rowsOf(records: Records): readonly Row[] {
  const found = records.all("cascade-measured").flatMap((run): readonly Row[] => {
    const before = records.find("cascade-predicted", run.key);
    const [engine = "", what = "", rate = ""] = run.key.split(" | ");
    if (before === undefined) return [];
    checkOrder(before, run);
    return [{ engine, what: what as What, rate: Number(rate), predicted: before.predicted, measured: run.measured }];
  });
  return ALONE_RATES.flatMap((rate) => found.filter((row) => row.rate === rate)).sort((a, b) =>
    a.engine < b.engine ? -1 : a.engine > b.engine ? 1 : 0,
  );
}

/** The part of the report on the cascade and the larger model alone. */
export function cascadeParts(records: Records): readonly string[] {
  const rows = rowsOf(records);
  return [
    "## The cascade of the two models, and the larger alone",
    `Through the gateway, with the judge's own measured time (${judgeTime(records)}). Quality in points, escalated in percent, times in ms: predicted, then measured. Both are planned on at most two cores for a quality of ${FLOOR} at least, a point value on the planning questions; thresholds, replicas and placement are the planner's own. Where it prefers the larger alone, the cascade is the best that it lists beside it. A refused load runs under the plan of the highest rate that has one. Arrivals are Poisson, answers are not streamed, and each rate runs once. Two engines on two cores leave none for the gateway, the judge and the client: they take turns with the engines, which the predictions leave out.`,
    mainTable(rows),
    "### Which of the two is better",
    "The better p95, quality and number of cores at each rate, as predicted and as measured, and what the planner chooses when both models may serve. Its objective is the lowest p95 at the quality floor.",
    betterTable(rows),
    "Earlier: vLLM servers and two similar models, neither engine fitted on this host, a judge assumed to take 0.27 s; alone is one engine.",
  ];
}

function judgeTime(records: Records): string {
  const judges = records.all("outcomes").map(({ key, judge }) => `${key}: ${ms(judge.meanSeconds)} ms, ${judge.calls} calls`);
  return judges.length === 0 ? "not measured" : judges.join("; ");
}

const points = (value: number | null): string => (value === null || Number.isNaN(value) ? "-" : value.toFixed(1));
const share = (value: number | null): string => points(value === null ? null : 100 * value);

function mainTable(rows: readonly Row[]): string {
  return table(
    [
      ...[
        "engine",
        "what",
        "requests/s",
        "n",
        "failed",
        "thresholds",
        "cores",
        "quality",
        "escalated",
        "mean",
        "p50",
        "p95",
        "band",
        "in it",
        "p99",
      ],
      ...["late", "p95 earlier"],
    ],
    rows.map(({ engine, what, rate, predicted, measured }) => [
      ...[engine, what, String(rate), String(measured.requests), String(measured.failed)],
      ...[measured.thresholds.join(", ") || "-", measured.cores === null ? "-" : String(measured.cores)],
      `${points(predicted.quality)} / ${points(measured.quality)}`,
      `${share(predicted.escalated)} / ${share(measured.escalated)}`,
      `${ms(predicted.mean)} / ${ms(measured.mean)}`,
      `${ms(predicted.p50)} / ${ms(measured.p50)}`,
      `${predicted.refused === null ? ms(predicted.p95) : "refused"} / ${ms(measured.p95)}`,
      ...bandOf(predicted, measured),
      `${ms(predicted.p99)} / ${ms(measured.p99)}`,
      ms(measured.lateP95),
      EARLIER[what][rate]?.join(" / ") ?? "-",
    ]),
  );
}

function bandOf({ p95Low, p95High }: CascadeFigures, { p95 }: CascadeFigures): readonly string[] {
  if (p95Low === null || p95High === null || p95 === null) return ["-", "-"];
  return [`${ms(p95Low)} to ${ms(p95High)}`, p95Low <= p95 && p95 <= p95High ? "yes" : "no"];
}

function betterTable(rows: readonly Row[]): string {
  const pairs = rows.flatMap((cascade) => {
    const alone = rows.find(({ engine, what, rate }) => engine === cascade.engine && what === "alone" && rate === cascade.rate);
    return cascade.what !== "cascade" || alone === undefined ? [] : [{ cascade, alone }];
  });
  const both = (of: (one: CascadeFigures, other: CascadeFigures) => string, { cascade, alone }: (typeof pairs)[number]): string =>
    `${of(cascade.predicted, alone.predicted)} / ${of(cascade.measured, alone.measured)}`;
  return table(
    ["engine", "requests/s", "p95", "quality", "fewer cores", "at the floor", "planner's choice"],
    pairs.map((pair) => [
      ...[pair.cascade.engine, String(pair.cascade.rate)],
      both((one, other) => lower(one.p95, other.p95), pair),
      both((one, other) => lower(negative(one.quality), negative(other.quality)), pair),
      both((one, other) => lower(one.cores, other.cores), pair),
      both(atFloor, pair),
      pair.cascade.predicted.chosen ?? "none",
    ]),
  );
}

const negative = (value: number | null): number | null => (value === null ? null : -value);

/** Which has the lower value; one that has none loses. */
function lower(cascade: number | null, alone: number | null): What | "neither" {
  const [own, other] = [cascade ?? Number.POSITIVE_INFINITY, alone ?? Number.POSITIVE_INFINITY];
  return own === other || Number.isNaN(own - other) ? "neither" : own < other ? "cascade" : "alone";
}

/** Which of them has the floor's quality. */
function atFloor(cascade: CascadeFigures, alone: CascadeFigures): string {
  const reach = ({ quality }: CascadeFigures): boolean => quality !== null && quality >= FLOOR;
  return reach(cascade) ? (reach(alone) ? "both" : "cascade") : reach(alone) ? "alone" : "neither";
}
