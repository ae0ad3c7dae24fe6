import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { CAUTION_UTILISATION } from "@/solver/engine/saturation";
import type { LabEngines } from "@/solver/lab/engineFigures";
import type { LabReplicas } from "@/solver/lab/labSpec";
import { fixedProblem, type MixTraffic, mixGround } from "@/solver/mix/mixGround";
import { type SolvedMix, solveMix } from "@/solver/mix/solveMix";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import type { JustInTimeParts } from "@/solver/policies/justInTime/justInTimeDocument";
import cases from "./cases.json" with { type: "json" };
import type { Mix } from "./mixes";

const TIME_LIMIT_SECONDS = 20;
/** Share of the highest rate: searches end within some tenths of a percent of it. */
const ALMOST = 0.99;

interface PlannedMix {
  readonly mix: Mix;
  readonly traffic: Pick<MixTraffic, "outcomes" | "planning" | "seed">;
  /** Least mean label of single requests. */
  readonly floor: number;
  readonly workflows: readonly WorkflowDocument[];
  readonly engines: readonly LabReplicas[];
  readonly modelled: readonly LabEngines[];
}

/**
 * The loads of a mix's engines by the planner of mixes, with the engines fixed and every program's accurate configurations known: those at
 * the highest rate that the engines carry at the planner's load factor.
 *
 * @throws Error where the engines do not carry the mix at any rate.
 */
export async function plannedLoads(planned: PlannedMix): Promise<NonNullable<JustInTimeParts["planned"]>> {
  const { mix, traffic, floor, engines, modelled } = planned;
  const shapes = modelled.map(({ model, replicas }) =>
    replicas.map(({ replica, count }) => {
      const { gpu = "", tp = 1, pp = 1 } = engines.find((own) => own.model === model) ?? {};
      return { gpu, shape: { tp, pp }, replica, count, model };
    }),
  );
  const solving = { engine: await loadGlpkEngine(), nowSeconds: () => performance.now() / 1000, timeLimitSeconds: TIME_LIMIT_SECONDS };
  const solvedAt = (programsPerSecond: number): SolvedMix => {
    const rateOf = (name: string): number => programsPerSecond * (mix.shares.find(({ workflow }) => workflow === name)?.share ?? 0);
    const workflows = planned.workflows.map((workflow) => ({
      ...{ workflow, programsPerSecond: rateOf(workflow.name), floor: 0, predicted: true },
    }));
    const singles = { requestsPerSecond: rateOf(cases.single), floor, judgeSeconds: cases.judgeSeconds };
    const ground = mixGround({ ...traffic, shapes, workflows, singles });
    const solved = solveMix(fixedProblem(ground, shapes.flat(), CAUTION_UTILISATION), solving);
    if (solved.outcome === "mix") return solved;
    throw new Error(`${mix.name} is not carried at ${programsPerSecond} programs/s: ${JSON.stringify(solved)}`);
  };
  const { models } = solvedAt(ALMOST * solvedAt(1).highestFactor);
  return models.map(({ model, load }) => ({
    ...{ model, load, replicas: engines.filter((own) => own.model === model).reduce((sum, { count }) => sum + count, 0) },
  }));
}
