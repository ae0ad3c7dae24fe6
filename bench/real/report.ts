import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { machine, resultsFolder } from "../lib/results";
import { table } from "../lib/tables";
import type { CascadeFigures } from "./cascadeFigures";
import { ALONE_RATES, FLOOR } from "./cascadeRuns";
import type { RunFigures } from "./figures";
import type { Records } from "./records";
import { SHARES } from "./singleRuns";
import { errorFields, firstOnly, halfWidth, isInBand, medianError, type Pair, pairsOf, repeatNoise } from "./summary";

/** Figures of an earlier measurement of two vLLM servers with other, similar models on 2 cores: p95, ms. */
const EARLIER: Readonly<Record<"alone" | "cascade", Readonly<Record<number, readonly [predicted: number, measured: number]>>>> = {
  alone: { 5: [42, 62], 10: [43, 54], 20: [46, 58], 40: [49, 63], 100: [62, 112], 160: [83, 239], 250: [167, 2711] },
  cascade: { 5: [340, 111], 10: [341, 120], 20: [343, 154], 40: [346, 234], 70: [350, 317], 100: [354, 593] },
};

const ms = (seconds: number | null | undefined): string =>
  seconds === null || seconds === undefined || Number.isNaN(seconds) ? "-" : (1000 * seconds).toPrecision(3);
const percent = (share: number | null): string => (share === null || Number.isNaN(share) ? "-" : `${(100 * share).toFixed(1)} %`);

/** Writes bench/results/real.md from all records; returns the file. */
export function writeReport(records: Records): string {
  const pairs = pairsOf(records);
  const file = join(resultsFolder(), "real.md");
  const parts = [
    "# Real engines",
    `Predicted beside measured, by \`npm run bench -- "real engines"\` on ${machine}. Predictions are made and stored before their runs.`,
    conditions(records),
    "## One engine, open loop",
    "Times in ms: predicted, then measured. The band is the plan's, 90 %, for a measurement of this length. `late`: the client's 95th percentile of sending after the schedule.",
    singleTable(pairs),
    "### Errors",
    errorTable(pairs),
    "## The cascade of the two models, and the larger alone",
    `Through the gateway, with the judge's own measured time (${judgeTime(records)}). Quality in points, escalated in percent, times in ms: predicted, then measured. The cascade is planned for a quality of ${FLOOR} at least.`,
    cascadeTable(records),
    "Earlier: two vLLM servers and two similar models, neither engine fitted on this host, a judge assumed to take 0.27 s.",
  ];
  writeFileSync(file, `${parts.map((part) => part.trimEnd()).join("\n\n")}\n`);
  return file;
}

function conditions(records: Records): string {
  const engines = records.all("engine").map(({ says, loadSeconds }) => `${says}, up after ${Math.round(loadSeconds)} s`);
  const fits = records.all("fit").map(({ key, minutes }) => `${key}: ${minutes.toFixed(1)} minutes`);
  return [
    "Conditions: each engine computes on one core with one thread, under SCHED_IDLE, since vLLM's processes poll busily; client, gateway and judge run with normal priority.",
    "A single engine has core 0 for its model, core 1 for its HTTP server beside the client. Of the two engines of the cascade each has one core for all its processes, shared with gateway, judge and client.",
    engines.length === 0 ? "" : `Engines: ${[...new Set(engines)].join("; ")}.`,
    fits.length === 0 ? "" : `Profiles, fitted by \`weir measure\`: ${fits.join("; ")}.`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function singleTable(pairs: readonly Pair[]): string {
  const both = (pair: Pair, field: keyof RunFigures): string => `${ms(pair.predicted[field])} / ${ms(pair.measured[field])}`;
  return table(
    [...["engine", "traffic", "load", "requests/s", "n", "failed", "mean", "p50", "p95", "band", "in it", "p99", "TTFT", "TPOT", "late"]],
    pairs.map((pair) => [
      ...[pair.engine, pair.repeat === 0 ? pair.traffic : `${pair.traffic}, repeat ${pair.repeat}`, `${Math.round(100 * pair.share)} %`],
      ...[pair.requestsPerSecond.toPrecision(3), String(pair.measured.requests), String(pair.measured.failed)],
      ...[both(pair, "mean"), both(pair, "p50"), both(pair, "p95"), `${ms(pair.predicted.p95Low)} to ${ms(pair.predicted.p95High)}`],
      ...[isInBand(pair) ? "yes" : "no", both(pair, "p99"), both(pair, "ttft"), both(pair, "tpot"), ms(pair.measured.lateP95)],
    ]),
  );
}

function errorTable(pairs: readonly Pair[]): string {
  const row = (name: string, own: readonly Pair[]): readonly string[] => {
    const counted = firstOnly(own);
    const band = counted.length === 0 ? Number.NaN : counted.filter(isInBand).length / counted.length;
    const widths = counted.map(halfWidth).sort((a, b) => a - b);
    return [
      ...[name, String(counted.length), ...errorFields.map((field) => percent(medianError(counted, field)))],
      ...[percent(band), percent(widths[widths.length >> 1] ?? null)],
    ];
  };
  const noise = errorFields.map((field) => percent(repeatNoise(pairs, field)));
  return table(
    ["runs", "n", ...errorFields.map((field) => `median error of ${field}`), "p95 in its band", "median half width"],
    [
      ...SHARES.map((share) =>
        row(
          `at ${Math.round(100 * share)} %`,
          pairs.filter((pair) => pair.share === share),
        ),
      ),
      ...[...new Set(pairs.map(({ engine }) => engine))].map((engine) =>
        row(
          engine,
          pairs.filter((pair) => pair.engine === engine),
        ),
      ),
      row("all", pairs),
      ["standard deviation of repeats", "", ...noise, "", ""],
    ],
  );
}

function judgeTime(records: Records): string {
  const judges = records.all("judge").map(({ secondsPerCall, samples }) => `${ms(secondsPerCall)} ms, ${samples} calls`);
  return judges.length === 0 ? "not measured" : judges.join("; ");
}

function cascadeTable(records: Records): string {
  const kinds = [...new Set(records.all("cascade-measured").map(({ key }) => key.split(" | ")[0] ?? ""))];
  const rows = kinds.flatMap((kind) =>
    ALONE_RATES.flatMap((rate) =>
      (["cascade", "alone"] as const).flatMap((what) => {
        const key = `${kind} | ${what} | ${rate}`;
        const [predicted, measured] = [records.find("cascade-predicted", key)?.predicted, records.find("cascade-measured", key)?.measured];
        if (predicted === undefined || measured === undefined) return [];
        const earlier = EARLIER[what][rate];
        return [
          [
            ...[kind, what, String(rate), String(measured.requests), String(measured.failed)],
            `${points(predicted.quality)} / ${points(measured.quality)}`,
            `${points(100 * predicted.escalated)} / ${points(100 * measured.escalated)}`,
            `${ms(predicted.mean)} / ${ms(measured.mean)}`,
            `${predicted.refused === null ? ms(predicted.p95) : "refused"} / ${ms(measured.p95)}`,
            predicted.p95Low === null ? "-" : `${ms(predicted.p95Low)} to ${ms(predicted.p95High)}`,
            what === "cascade" ? betterAt(records, kind, rate) : "",
            earlier === undefined ? "-" : earlier.join(" / "),
          ],
        ];
      }),
    ),
  );
  return table(
    ["engine", "what", "requests/s", "n", "failed", "quality", "escalated", "mean", "p95", "band", "faster: said / was", "p95 earlier"],
    rows,
  );
}

const points = (value: number | null): string => (value === null || Number.isNaN(value) ? "-" : value.toFixed(1));

/** Which of the two has the lower p95 at a rate, by the planner beforehand and as measured. */
function betterAt(records: Records, kind: string, rate: number): string {
  const [cascade, alone] = [`${kind} | cascade | ${rate}`, `${kind} | alone | ${rate}`];
  const faster = (one: CascadeFigures | undefined, other: CascadeFigures | undefined): string => {
    if (one === undefined || other === undefined) return "-";
    const [own, its] = [one.refused === null ? one.p95 : Infinity, other.refused === null ? other.p95 : Infinity];
    return own === its ? "neither" : own < its ? "cascade" : "alone";
  };
  const predicted = (key: string) => records.find("cascade-predicted", key)?.predicted;
  const measured = (key: string) => records.find("cascade-measured", key)?.measured;
  return `${faster(predicted(cascade), predicted(alone))} / ${faster(measured(cascade), measured(alone))}`;
}
