import { existsSync } from "node:fs";
import { atLeast, atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent, workloadOf } from "../lib/compareData";
import { SEEDS } from "../lib/gateSplits";
import { floorTable, gateTable, meanText, verdictTable, winnerOf } from "../lib/gateTables";
import { MEASURED_SCORES, withMeasuredScores } from "../lib/measuredScores";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { answersPresent, ladderAnswers } from "./answers";
import { gateLadders, plannedLadders, scoredLadder } from "./cases";
import { type MeasuredLadder, measureLadder, measureScored } from "./measureLadder";
import { PLAN_LOADS, PLAN_SEEDS, type PlannedCase, planLadder } from "./planLadder";
import { byCase, gpuTable, planTable, relativeP95 } from "./planTables";
import { scorerCostBenchmarks } from "./scorerCost";

/** All ladders, measured once for all benchmarks. */
const measured = once(async (): Promise<readonly MeasuredLadder[]> => {
  const ladders: MeasuredLadder[] = [];
  for (const ladder of gateLadders) {
    ladders.push(measureLadder(await ladderAnswers(ladder)));
    process.stderr.write(`gates: ${ladder.name}\n`);
  }
  if (dataPresent() && existsSync(MEASURED_SCORES)) {
    const { family, task } = scoredLadder;
    const { outcomes } = await workloadOf({ family, tasks: [task], judgeAuc: 0.8 });
    ladders.push(measureScored(await withMeasuredScores(outcomes), scoredLadder));
  }
  writeRows("gates", ladders);
  writeTables("gates", [ladderTable(ladders), gateTable(ladders), verdictTable(ladders), floorTable(ladders)]);
  return ladders;
});

/** Ladders with their models' qualities. */
const ladderTable = (ladders: readonly MeasuredLadder[]): string =>
  table(
    ["ladder", "peer", "questions", "right %: first, next", "first model and peer disagree %"],
    ladders.map(({ name, peer, questions, quality, nextQuality, shares }) => [
      ...[name, peer ?? "-", String(questions), `${quality.toFixed(1)}, ${nextQuality.toFixed(1)}`],
      peer === null ? "-" : meanText(shares.map((share) => 100 * share)),
    ]),
  );

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Ladders whose answers a peer's are compared with. */
const withPeer = async (): Promise<readonly MeasuredLadder[]> => (await measured()).filter(({ peer }) => peer !== null);

/** Points of a gate over random escalation at the share of disagreement, the least over the ladders. */
async function leastOverRandom(gateName: string): Promise<Measurement> {
  const points = (await withPeer()).map(({ name, gates }) => ({
    ladder: name,
    points: mean(gates.find((gate) => gate.name === gateName)?.overRandom ?? []),
  }));
  const least = points.reduce((a, b) => (a.points <= b.points ? a : b));
  return {
    figure: least.points,
    unit: "points",
    detail: `least of ${points.length} ladders (${points.map((one) => `${one.ladder}: ${one.points.toFixed(1)}`).join("; ")}), held out, mean of ${SEEDS.length} splits; every gate sends on the share on which small model and peer disagree`,
  };
}

/** Ladders on which agreement has the smallest risk-coverage area. */
async function agreementWins(): Promise<Measurement> {
  const ladders = await withPeer();
  const winners = ladders.map((one) => ({ ladder: one.name, gate: winnerOf(one).name }));
  return {
    figure: winners.filter(({ gate }) => gate === "agreement with the peer").length,
    unit: `of ${ladders.length} ladders`,
    detail: `smallest mean risk-coverage area among agreement, a judge modelled at AUC .80, a scorer without log probabilities and a trained router: ${winners.map(({ ladder, gate }) => `${ladder}: ${gate}`).join("; ")}`,
  };
}

/** The largest calibration error that is left, over gates and ladders. */
async function calibrationLeft(): Promise<Measurement> {
  const all = (await measured()).flatMap(({ name, gates }) => gates.map((gate) => ({ ladder: name, gate })));
  const worst = all.reduce((a, b) => (mean(a.gate.calibrationError) >= mean(b.gate.calibrationError) ? a : b));
  return {
    figure: mean(worst.gate.calibrationError),
    unit: "points",
    detail: `held-out ECE after calibration, worst of ${all.length} gates (${worst.gate.name}, ${worst.ladder}); raw mean ${mean(all.map(({ gate }) => mean(gate.rawCalibrationError))).toFixed(1)}, calibrated mean ${mean(all.map(({ gate }) => mean(gate.calibrationError))).toFixed(1)}`,
  };
}

/** Plans with the judge alone and with the best gate, on the arrivals of the Azure conversation trace. */
const planned = once(async (): Promise<readonly PlannedCase[]> => {
  const { arrivalSeconds } = await workloadOf({ family: "Llama-3.1-Instruct", tasks: ["gsm"], judgeAuc: 0.8 });
  const cases: PlannedCase[] = [];
  for (const load of PLAN_LOADS) {
    for (const ladder of plannedLadders) {
      const answers = await ladderAnswers(ladder);
      for (const seed of PLAN_SEEDS) cases.push(...(await planLadder(answers, arrivalSeconds, { seed, load })));
    }
  }
  writeRows("gatePlans", cases);
  writeTables("gatePlans", [planTable(cases), gpuTable(cases)]);
  return cases;
});

/** Cases at a load in which the plan with the best gate has a p95 that is lower by a quarter; one without a plan of both is none. */
async function quickerPlans(load: number): Promise<Measurement> {
  const changes = byCase((await planned()).filter((one) => one.load === load)).map((own) => {
    const ratios = own.flatMap((one) => relativeP95(one) ?? []);
    return ratios.length === 0 ? null : mean(ratios) - 1;
  });
  return {
    figure: changes.filter((change) => change !== null && change <= -0.25).length,
    unit: `of ${changes.length} cases`,
    detail: `p95 of the plan with the best gate lower by 25 % or more than the judge plan's, held out, same floor, GPUs and trace, at ${load} of the larger model's saturation: ${changes.map((change) => (change === null ? "no plan" : `${(100 * change).toFixed(0)} %`)).join(", ")}`,
  };
}

const answerBenchmarks: readonly Benchmark[] = answersPresent()
  ? [
      { name: "gates, agreement over random escalation", budget: null, run: () => leastOverRandom("agreement with the peer") },
      { name: "gates, modelled judge over random escalation", budget: null, run: () => leastOverRandom("judge of AUC 0.8") },
      { name: "gates, trained router over random escalation", budget: null, run: () => leastOverRandom("trained router") },
      { name: "gates, ladders that agreement wins", budget: null, run: agreementWins },
      ...(dataPresent()
        ? PLAN_LOADS.map((load) => ({
            name: `gates, plans quicker by a quarter at a load of ${load}`,
            budget: atLeast(6, "the best gate escalates as much as the judge, so that plans need the same GPUs"),
            run: () => quickerPlans(load),
          }))
        : []),
      {
        name: "gates, calibration error left",
        budget: atMost(5, "a calibration follows the noise of the planning split"),
        run: calibrationLeft,
      },
    ]
  : [];

export const gateBenchmarks: readonly Benchmark[] = [...scorerCostBenchmarks, ...answerBenchmarks];
