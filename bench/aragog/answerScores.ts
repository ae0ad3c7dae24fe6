import { seedEstimate } from "@/solver/lab/overSeeds";
import { type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { signed, table } from "../lib/tables";
import { HALFWAY } from "./raceCase";
import { mainLadders, type RaceLadder, raceAnswers } from "./raceLadders";
import { pointsAtEqualCost, type ScoredCurves, scoredCurves } from "./scoredRun";

const SEEDS = [1, 2, 3] as const;

/** AUC of the modelled confidence: what log probabilities of these families reach on their own answers, and one that is hardly wrong. */
const CONFIDENCE = [0.75, 0.9] as const;

const WORKFLOWS = ["self-refine", "text-to-sql", "voting", "decomposition"] as const;

/** How often programs of a run fill all places of the engines. */
const BATCHES = 3;

interface ScoredRow {
  readonly ladder: string;
  readonly workflow: string;
  readonly confidence: number;
  /** By seed. */
  readonly curves: readonly ScoredCurves[];
}

/** All cases; recorded whole. */
const rows = once(async (): Promise<readonly ScoredRow[]> => {
  const all: ScoredRow[] = [];
  for (const ladder of mainLadders) {
    for (const workflow of WORKFLOWS) {
      for (const confidence of CONFIDENCE) all.push(await rowOf(ladder, workflow, confidence));
      process.stderr.write(`scores of answers, ${ladder.name}, ${workflow}\n`);
    }
  }
  writeRows("aragog-answer-scores", all);
  writeTables("aragog-answer-scores", [tableOf(all)]);
  return all;
});

async function rowOf(ladder: RaceLadder, workflow: string, confidence: number): Promise<ScoredRow> {
  const answers = await raceAnswers(ladder);
  const of = { ...{ part: "scores of answers", ladder, workflow, gpus: 8 as const, ...HALFWAY }, batches: BATCHES };
  return { ladder: ladder.name, workflow, confidence, curves: SEEDS.map((seed) => scoredCurves(of, answers, { seed, confidence })) };
}

const gainOf = ({ curves }: ScoredRow, against: "curve" | "hull") => seedEstimate(curves.map((own) => pointsAtEqualCost(own, against)));

const tableOf = (all: readonly ScoredRow[]): string =>
  table(
    ["models", "workflow", "AUC of the scores", "points at equal cost", "against mixed thresholds"],
    all.map((row) => [...[row.ladder, row.workflow, row.confidence.toFixed(2), signed(gainOf(row, "curve")), signed(gainOf(row, "hull"))]]),
  );

async function scores(confidence: number): Promise<Measurement> {
  const own = (await rows()).filter((row) => row.confidence === confidence);
  const overCases = (against: "curve" | "hull") =>
    seedEstimate(
      SEEDS.map((_, seed) => {
        const gains = own.flatMap(({ curves }) => curves.slice(seed, seed + 1).map((of) => pointsAtEqualCost(of, against)));
        const known = gains.filter((gain) => !Number.isNaN(gain));
        return known.reduce((sum, gain) => sum + gain, 0) / known.length;
      }),
    );
  const byCase = own.map((row) => `${row.workflow} ${signed(gainOf(row, "curve"))}`).join(", ");
  return {
    ...overSeeds(overCases("curve")),
    unit: "points",
    detail: `accuracy at equal cost with scores of agents' answers (AUC ${confidence}, modelled) over that without, per-input, where within 10 points of the largest models; against mixed thresholds ${signed(overCases("hull"))}; ${byCase}`,
  };
}

export const answerScoresBenchmarks: readonly Benchmark[] = CONFIDENCE.map((confidence) => ({
  name: `aragog scores of answers: AUC ${confidence}`,
  budget: null,
  run: () => scores(confidence),
}));
