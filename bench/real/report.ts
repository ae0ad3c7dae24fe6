import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { resultsFolder } from "../lib/results";
import { table } from "../lib/tables";
import { cascadeParts } from "./cascadeReport";
import type { RunFigures } from "./figures";
import { fitTable } from "./fitFigures";
import { ms } from "./milliseconds";
import type { Records } from "./records";
import { samePairs } from "./samePairs";
import { seenBy, shareWithin } from "./seenLengths";
import { SHARES } from "./singleRuns";
import {
  bandShare,
  errorFields,
  firstOnly,
  isInBand,
  medianError,
  medianHalfWidth,
  medianOtherPart,
  type Pair,
  pairsOf,
  plansOnly,
  repeatNoise,
} from "./summary";
import { missingFor, targetTable } from "./targets";
import { type Traffic, traffics } from "./traffic";

const percent = (share: number | null): string => (share === null || Number.isNaN(share) ? "-" : `${(100 * share).toFixed(1)} %`);

/** Writes bench/results/real.md from all records; returns the file. */
export function writeReport(records: Records): string {
  const file = join(resultsFolder(), "real.md");
  writeFileSync(file, reportOf(records, traffics()));
  return file;
}

/**
 * The tables of all records.
 *
 * @throws Error where a run began before its prediction was stored.
 */
export function reportOf(records: Records, known: readonly Traffic[]): string {
  const pairs = pairsOf(records);
  const same = samePairs(pairs, records, known);
  const missing = missingFor(pairs);
  const { commit, machine } = records.provenance;
  const parts = [
    "# Real engines",
    `Predicted beside measured, by \`npm run bench -- "real engines"\`, commit ${commit} on ${machine}. Each prediction was stored before its run began; all records are in \`real/runs.jsonl\`.`,
    conditions(records),
    "## Targets",
    "Over the first run of each engine, traffic and load. A plan's figures are those of its traffic in the long run; by the same requests, those that were sent are simulated.",
    targetTable([
      { by: "by the plan", pairs },
      { by: "by the same requests", pairs: same },
    ]),
    "## One engine, open loop",
    "Times in ms: predicted, then measured. The band is the plan's, 90 %, for a measurement of this length. `refused`: the planner refuses the load, and the figures are simulated without a plan. `late`: the client's 95th percentile of sending after the schedule. `p95 same`: of the very requests that were sent, simulated.",
    "Replayed arrivals are known to the planner: it plans with the very arrivals that are sent, and with other lengths of the same record. `p95 otherwise` is predicted with the other half of the record instead. Poisson arrivals and lengths are drawn with other seeds than those that are sent.",
    singleTable(pairs, same),
    "### Errors of the plan",
    `Medians of absolute errors, refused loads included; bands and widths are of plans alone.${missing === null ? "" : ` Too few for the targets: ${missing}.`} A plan's figures are those of its traffic in the long run. A run here has ${range(pairs.map(({ measured }) => measured.requests))} counted requests, begins with an idle engine, and has the requests that chance gave it; near saturation a queue takes longer than a run to build up. These errors hold all of that beside the model's own.`,
    errorTable(pairs),
    otherPart(pairs),
    "### Errors of the model",
    "The very requests that were sent, simulated at the moments at which they were due: what is left is the model's error and the machine's noise. The simulation knows nothing else of the run. The band is of the profile's error alone.",
    errorTable(same),
    "### What the fits saw",
    "Fits see closed loops in which lengths are spread evenly by half around a centre; the runs above are open loops of other lengths. The last column is the share of the traffic's requests whose lengths are within the ranges of the fit.",
    seenTable(records, known),
    ...cascadeParts(records),
  ];
  return `${parts.map((part) => part.trimEnd()).join("\n\n")}\n`;
}

function conditions(records: Records): string {
  const engines = records.all("engine").map(({ key, cores, command, loadSeconds }) => {
    return `- ${key}: on core ${cores}, up after ${Math.round(loadSeconds)} s: \`${command.join(" ")}\``;
  });
  const fits = records.all("fit");
  return [
    "The product's process connector starts engines and judge, on the cores that the plan gives them: vLLM and llama.cpp's server are pinned to theirs, Weir's own llama.cpp engine has one thread and no core of its own. Cores below are those that the system shows for all processes of an engine. The bench pins its client to core 1, which engines, gateway and judge may use too; the gateway is not pinned.",
    ...(engines.length === 0 ? [] : ["", ...new Set(engines), ""]),
    ...(fits.length === 0
      ? []
      : [
          "Profiles, fitted by `weir measure`, with the mean and the 90th percentile of the error on runs kept aside, and the relative standard deviation of repeats in brackets:",
          "",
          fitTable(fits),
        ]),
  ].join("\n");
}

/** The errors of the p95 where another part of the replayed record is known. */
function otherPart(pairs: readonly Pair[]): string {
  const error = medianOtherPart(firstOnly(pairs));
  return error === null ? "" : `Replayed arrivals, planned with the other half of the record: p95 ${percent(error)} off, the median.`;
}

const range = (values: readonly number[]): string => (values.length === 0 ? "no" : `${Math.min(...values)} to ${Math.max(...values)}`);

function singleTable(pairs: readonly Pair[], same: readonly Pair[]): string {
  const sameOf = ({ engine, traffic, share, repeat }: Pair): Pair | undefined =>
    same.find((one) => one.engine === engine && one.traffic === traffic && one.share === share && one.repeat === repeat);
  const both = (pair: Pair, field: keyof RunFigures): string => `${ms(pair.predicted[field])} / ${ms(pair.measured[field])}`;
  const bandOf = (pair: Pair): readonly string[] =>
    pair.predicted.refused === null
      ? [`${ms(pair.predicted.p95Low)} to ${ms(pair.predicted.p95High)}`, isInBand(pair) ? "yes" : "no"]
      : ["refused", "-"];
  return table(
    [
      ...["engine", "traffic", "load", "requests/s", "n", "failed", "mean", "p50", "p95", "p95 otherwise", "p95 same", "band", "in it"],
      ...["p99", "TTFT", "TPOT", "late"],
    ],
    pairs.map((pair) => [
      ...[pair.engine, pair.repeat === 0 ? pair.traffic : `${pair.traffic}, repeat ${pair.repeat}`, `${Math.round(100 * pair.share)} %`],
      ...[pair.requestsPerSecond.toPrecision(3), String(pair.measured.requests), String(pair.measured.failed)],
      ...[
        both(pair, "mean"),
        both(pair, "p50"),
        both(pair, "p95"),
        ms(pair.p95OtherPart),
        ms(sameOf(pair)?.predicted.p95),
        ...bandOf(pair),
      ],
      ...[both(pair, "p99"), both(pair, "ttft"), both(pair, "tpot"), ms(pair.measured.lateP95)],
    ]),
  );
}

function errorTable(pairs: readonly Pair[]): string {
  const row = (name: string, own: readonly Pair[]): readonly string[] => {
    const counted = firstOnly(own);
    return [
      ...[name, String(counted.length), String(counted.length - plansOnly(counted).length)],
      ...errorFields.map((field) => percent(medianError(counted, field))),
      ...[percent(bandShare(counted)), percent(medianHalfWidth(counted))],
    ];
  };
  const noise = errorFields.map((field) => percent(repeatNoise(pairs, field)));
  const grouped = (name: (pair: Pair) => string): readonly (readonly string[])[] =>
    [...new Set(pairs.map(name))].map((one) =>
      row(
        one,
        pairs.filter((pair) => name(pair) === one),
      ),
    );
  return table(
    ["runs", "n", "refused", ...errorFields, "p95 in its band", "median half width"],
    [
      ...SHARES.map((share) =>
        row(
          `at ${Math.round(100 * share)} %`,
          pairs.filter((pair) => pair.share === share),
        ),
      ),
      ...grouped(({ engine }) => engine),
      ...grouped(({ traffic }) => traffic),
      row("all", pairs),
      ["standard deviation of repeats", "", "", ...noise, "", ""],
    ],
  );
}

function seenTable(records: Records, known: readonly Traffic[]): string {
  const rows = records.all("fit").flatMap((fit) => {
    const seen = seenBy(fit);
    const { runs, inputTokens, outputTokens, concurrency } = seen;
    return known.map(({ name, known: lengths }) => [
      ...[fit.key, String(runs), range(inputTokens), range(outputTokens), range(concurrency), name, percent(shareWithin(lengths, seen))],
    ]);
  });
  return table(["fit", "runs", "tokens in", "tokens out", "in flight", "traffic", "within"], rows);
}
