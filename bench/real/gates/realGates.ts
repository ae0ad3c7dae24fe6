import { join } from "node:path";
import { atMost, type Benchmark, type Measurement } from "../../lib/benchmark";
import { ratioOf } from "../../lib/bySeed";
import type { MeasuredGates } from "../../lib/gateSplits";
import { gateTable, verdictTable, winnerOf } from "../../lib/gateTables";
import { once } from "../../lib/once";
import { machine, resultsFolder, writeRows, writeTables } from "../../lib/results";
import { ratio } from "../../lib/tables";
import { isEngineThere } from "../connections";
import { endOnSignals } from "../realEngine";
import { realSettings } from "../settings";
import type { AskedAnswers } from "./askedAnswers";
import { gateCases } from "./cases";
import { answersOf, measuredSeeds, type SeedAnswers, seedTable, withEngines } from "./seedRuns";
import { repeatPair, type ServedFigures, type ServedPolicyFigures, servedFigures } from "./servedFigures";
import { calibratedGates, servedPolicies } from "./servedGates";
import { servedRuns } from "./servedRuns";
import { againstJudge, REFERENCE, servedTable } from "./servedTables";
import { committed, weightSets } from "./weightSets";

const root = process.env.WEIR_ROOT ?? process.cwd();
const folder = (): string => join(resultsFolder("real"), "gates");

const began = performance.now();

/** Answers of the committed weights, which both parts read. */
let known: AskedAnswers | null = null;

const questions = (): number => realSettings().questions;

/** All gates at all thresholds through the gateway, by the committed weights. */
const served = once(async (): Promise<readonly ServedPolicyFigures[]> => {
  ready();
  const { minutes } = realSettings();
  return withEngines(committed(root), folder(), async (serving) => {
    known = await answersOf(serving, questions(), gateCases);
    const { small, large, judge, ports } = serving;
    const policies = servedPolicies(calibratedGates(known, gateCases), { thresholds: gateCases.thresholds, judgeModel: judge.model });
    const timeLeft = (seconds: number): boolean => performance.now() - began + 1000 * seconds < 60_000 * minutes;
    const slices = await servedRuns(policies, { engines: [small, large], judge, ports, cases: gateCases, timeLeft });
    if (slices.length === 0) throw new Error(`${minutes} minutes (WEIR_BENCH_REAL_MINUTES) are too few for one repeat`);
    const figures = servedFigures(slices, policies);
    writeRows("real-gates-served", figures);
    writeTables("real-gates-served", [servedConditions(figures), servedTable(figures), againstJudge(figures)]);
    return figures;
  });
});

function servedConditions(figures: readonly ServedPolicyFigures[]): string {
  const { requestsPerSecond, sliceSeconds, slices, repeats } = gateCases;
  const made = figures[0]?.repeats.length ?? 0;
  const late = Math.max(...figures.map(({ lateSeconds }) => lateSeconds));
  const sum = (of: (one: ServedPolicyFigures) => number): number => figures.reduce((all, one) => all + of(one), 0);
  return `${machine}. ${requestsPerSecond} requests a second, ${slices} slices of ${sliceSeconds} s, ${made} of ${repeats} repeats; gates learnt from ${questions()} other questions. Latest sending ${Math.round(1000 * late)} ms after the schedule; ${sum(({ unscored }) => unscored)} answers without a score, ${sum(({ withoutRoom }) => withoutRoom)} samples that were not asked for, as the small model's engine was more than half full.`;
}

interface Seeds {
  readonly seeds: readonly SeedAnswers[];
  readonly measured: readonly MeasuredGates[];
}

/** All gates on the answers of every set of weights. */
const compared = once(async (): Promise<Seeds> => {
  ready();
  const sets = weightSets(root, join(folder(), "weights"));
  if (sets.length === 1)
    process.stderr.write("gates on real models: the committed weights alone; WEIR_BENCH_SEEDS names none of other seeds\n");
  const seeds: SeedAnswers[] = [];
  for (const weights of sets) {
    process.stderr.write(`gates on real models: asking ${weights.name}\n`);
    const isKnown = seeds.length === 0 && known !== null;
    const answers = isKnown && known !== null ? known : await withEngines(weights, folder(), (up) => answersOf(up, questions(), gateCases));
    seeds.push({ weights, answers });
  }
  const measured = measuredSeeds(seeds);
  writeRows("real-gates-answers", measured);
  writeTables("real-gates-answers", [`${machine}.`, seedTable(seeds, measured), gateTable(measured), verdictTable(measured)]);
  return { seeds, measured };
});

/** @throws where the engine is not installed. */
function ready(): void {
  endOnSignals();
  const there = isEngineThere("llama");
  if (!there.ok) throw new Error(`Gates on real models need the engine of the add-on real-engine: ${there.message}`);
}

/** A figure of the confidence gate over the judge's, over all thresholds. */
async function confidenceOverJudge(field: keyof ServedFigures): Promise<Measurement> {
  const figures = await served();
  const pairs = figures.flatMap((own) => {
    const judge = figures.find(({ name, threshold }) => name === REFERENCE && threshold === own.threshold);
    return own.name === "confidence" && judge !== undefined ? [repeatPair(own, judge, field)] : [];
  });
  const estimated = ratioOf(pairs);
  return {
    figure: estimated?.value ?? Number.NaN,
    unit: "x",
    detail: `${ratio(estimated)} over the repeats, mean of ${pairs.length} thresholds at the same load; the judge's score is that of the confidence gate, which a second engine computes again: only the cost differs`,
  };
}

/** Sets of weights on which one of the gates of confidence has the smallest risk-coverage area. */
async function confidenceWins(): Promise<Measurement> {
  const { measured } = await compared();
  const winners = measured.map((one) => `${one.name}: ${winnerOf(one).name}`);
  return {
    figure: winners.filter((winner) => winner.includes("confidence")).length,
    unit: `of ${measured.length} sets of weights`,
    detail: `smallest mean risk-coverage area, held out, ten splits: ${winners.join("; ")}`,
  };
}

/** The largest calibration error that is left, over gates and sets of weights. */
async function calibrationLeft(): Promise<Measurement> {
  const { measured } = await compared();
  const all = measured.flatMap(({ name, gates }) =>
    gates.filter(({ competes }) => competes).map((gate) => ({ name, gate, left: meanOf(gate.calibrationError) })),
  );
  const worst = all.reduce((a, b) => (a.left >= b.left ? a : b));
  return {
    figure: worst.left,
    unit: "points",
    detail: `held-out ECE after calibration, worst of ${all.length} (${worst.gate.name}, ${worst.name}); raw mean ${meanOf(all.map(({ gate }) => meanOf(gate.rawCalibrationError))).toFixed(1)}, calibrated mean ${meanOf(all.map(({ left }) => left)).toFixed(1)}`,
  };
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

export const realGateBenchmarks: readonly Benchmark[] = [
  { name: "gates on real models, served: p95 of confidence over the judge's", budget: null, run: () => confidenceOverJudge("p95") },
  {
    name: "gates on real models, served: engine time of confidence over the judge's",
    budget: null,
    run: () => confidenceOverJudge("engines"),
  },
  { name: "gates on real models, answers: weights that confidence wins", budget: null, run: confidenceWins },
  {
    name: "gates on real models, answers: calibration error left",
    budget: atMost(5, "a calibration follows the noise of the planning split"),
    run: calibrationLeft,
  },
];
