import { TYPICAL_PROGRAMS } from "@/server/lab/labCells";
import { clusterReplicas, enginesByModel } from "@/server/lab/labEngines";
import { atRate, heldOutPrograms, planningPrograms, tableOf } from "@/server/lab/labPrograms";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { cellFigures } from "@/solver/lab/cellFigures";
import { suggestedSystems } from "@/solver/lab/suggestedSystems";
import { mean } from "@/solver/numeric/quantile";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Policy } from "@/solver/policies/core/policy";
import { confidencePredictor, trainConfidence } from "@/solver/prediction/confidence";
import { lengthPredictor, trainLengths } from "@/solver/prediction/lengths";
import { predictionsOf } from "@/solver/prediction/programFacts";
import { confidenceRowsOf, lengthRowsOf } from "@/solver/prediction/programRows";
import { sketchOf } from "@/solver/words/sketch";
import { splitPrompts } from "@/solver/workload/split";
import { answersOf, type Ladder, ladders } from "../lib/ladders";
import { table as markdown } from "../lib/tables";
import { promptsOf } from "../prediction/trained";
import { CORRELATION, LOADS } from "./cases";
import { figuresOf, labSpecOf } from "./labRun";

const SEED = 1;

/** What a request's own scheduling takes beside the time of its program. */
interface ShareRow extends Pick<Ladder, "family" | "task"> {
  readonly load: number;
  /** Mean time of a program in the simulation, in milliseconds. */
  readonly programMs: number;
  /** Of a program, in milliseconds: the policy's calls; the sketch of its prompt, with confidence and lengths of all its requests. */
  readonly decisionMs: number;
  readonly predictionMs: number;
  readonly share: number;
}

/** A policy that adds the time in its calls to a clock. */
function timed(policy: Policy, clock: { ms: number }): Policy {
  const measured = <Result>(call: () => Result): Result => {
    const before = performance.now();
    const result = call();
    clock.ms += performance.now() - before;
    return result;
  };
  return {
    ...policy,
    start: (request) => measured(() => policy.start(request)),
    decide: (view) => measured(() => policy.decide(view)),
    observe: (event) => measured(() => policy.observe(event)),
  };
}

/**
 * The scheduler's share of the time of programs (the source's table 1): the real policy object of Chimera timed in the run of the
 * simulator, and the real predictors timed on the same requests, over the simulated time of the programs.
 */
export async function schedulerShares(progress: (line: string) => void): Promise<readonly ShareRow[]> {
  const rows: ShareRow[] = [];
  for (const ladder of ladders) {
    const { workload: unsplit, texts: words } = await answersOf(ladder);
    const workload = { ...unsplit, seed: SEED };
    const of = { ladder, workload, texts: words, replicas: ladder.replicas, correlation: CORRELATION, loads: LOADS };
    const { capacity, models } = figuresOf(of);
    const spec = { ...labSpecOf(of), rates: [1], seeds: [SEED], systems: [] };
    const { programs } = spec;
    const table = tableOf(
      workload,
      models.map(({ model }) => model),
    );
    const typical = planningPrograms(spec, workload, table, TYPICAL_PROGRAMS);
    const served = heldOutPrograms(spec, workload, table, SEED);
    const { texts } = await promptsOf(ladder);
    const { planning } = splitPrompts(workload.outcomes.promptIds.length, SEED);
    const trained = {
      lengths: lengthPredictor(trainLengths(lengthRowsOf(typical, texts), { seed: SEED })),
      confidence: confidencePredictor(trainConfidence(confidenceRowsOf(table, planning, texts), { seed: SEED })),
    };
    const before = performance.now();
    for (const text of words) sketchOf(text ?? "");
    const sketchMs = (performance.now() - before) / words.length;
    const predicting = performance.now();
    const predictions = predictionsOf(served, texts, trained);
    const predictionMs = sketchMs + (performance.now() - predicting) / programs;
    const chimera = suggestedSystems(models).find(({ name }) => name === "Chimera");
    if (chimera === undefined) throw new Error("No slack dispatch is suggested");
    const engines = enginesByModel([...ladder.replicas], { catalogue: catalogueOf(noUserCards), profile: vllmProfile });
    for (const load of LOADS) {
      const clock = { ms: 0 };
      const sample = atRate(served, load * capacity);
      const outcome = simulatePrograms({
        policy: timed(buildPolicy(chimera.policy), clock),
        sample,
        predictions,
        replicas: clusterReplicas(engines, spec, typical),
        overhead: { routeSeconds: 0, predictSeconds: 0, decideSeconds: 0 },
      });
      const figures = cellFigures(outcome, sample, 1);
      if (figures === null) throw new Error("No program was served whole");
      const programMs = 1000 * figures.meanSeconds;
      const decisionMs = clock.ms / programs;
      rows.push({
        ...{ family: ladder.family, task: ladder.task, load, programMs, decisionMs, predictionMs },
        share: (decisionMs + predictionMs) / (programMs + decisionMs + predictionMs),
      });
    }
    progress(
      `scheduler's share, ${ladder.family} ${ladder.task}: ${(100 * mean(rows.slice(-LOADS.length).map(({ share }) => share))).toFixed(3)} %`,
    );
  }
  return rows;
}

/** The shares by ladder and load, in Markdown. */
export const shareTable = (rows: readonly ShareRow[]): string =>
  markdown(
    ["ladder", "a program, s", "policy, ms", "router and predictor, ms", "share"],
    rows.map(({ family, task, load, programMs, decisionMs, predictionMs, share }) => [
      `${family}, ${task}, load ${load}`,
      ...[(programMs / 1000).toFixed(1), decisionMs.toFixed(3), predictionMs.toFixed(2), `${(100 * share).toFixed(3)} %`],
    ]),
  );
