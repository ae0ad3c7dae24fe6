import { type ComparisonContext, groundOf } from "@/server/planning/compare/compareGround";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { trainedConfidence } from "@/server/prediction/confidenceTraining";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { halves } from "@/solver/baselines/halves";
import { mean } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import { applyJudge } from "@/solver/workload/applyJudge";
import { withConfidenceColumns } from "@/solver/workload/confidenceColumns";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import { workloadOf } from "../lib/compareData";
import { promptTexts } from "../lib/ladders";
import { type CascadiaCase, type CascadiaLadder, cascadiaCases } from "./cases";

const GPUS_PER_NODE = 8;

/** A ladder under one seed: its workload, with the scores of heads that were trained on the planning half. */
export interface LadderScene {
  readonly ladder: CascadiaLadder;
  readonly seed: number;
  readonly workload: Workload;
  readonly context: ComparisonContext;
}

/** One trace and floor of a scene. */
export interface CaseScene {
  readonly name: string;
  /** Of quality, 0..100. */
  readonly floor: number;
  /** The ladder's context on the trace's prompts. */
  readonly context: ComparisonContext;
  /** Planning rows in equal parts of all tasks; undefined where there is only one. */
  readonly profiled: Int32Array | undefined;
}

/**
 * A ladder's answers on arrivals of the first half of the Azure trace, with a judge modelled by the seed and trained heads. Heads learn from the planning half only.
 */
export async function ladderScene(ladder: CascadiaLadder, seed: number): Promise<LadderScene> {
  const { auc: judgeAuc } = cascadiaCases.judge;
  const read = await workloadOf({ family: ladder.family, tasks: ladder.tasks, judgeAuc });
  const judged = applyJudge(read.outcomes, { kind: "modelled", auc: judgeAuc, seed: mixSeed(seed, "judge of the case") });
  const seeded = { ...read, seed, outcomes: judged, arrivalSeconds: read.arrivalSeconds.subarray(0, read.arrivalSeconds.length / 2) };
  const workload = { ...seeded, outcomes: await withTrainedHeads(seeded) };
  const nodes = Array.from({ length: ladder.nodes }, (_, node) => ({ name: `node${node + 1}`, gpus: GPUS_PER_NODE }));
  const cluster = { id: "bench", name: "bench", kind: "described" as const, gpu: "h100-sxm", nodes, usdPerGpuHour: 2.67 };
  const situation = { workload, workloadId: workloadHash(workload), cluster };
  return { ladder, seed, workload, context: groundOf({ situation, engine: await loadGlpkEngine() }) };
}

export const caseName = ({ name }: CascadiaLadder, { hardShare, floor }: CascadiaCase): string =>
  `${name}, ${Math.round(100 * hardShare)} % hard, floor ${floor}`;

/** The ladder's prompts in the case's shares of tasks, and the floor between its models' qualities on them. */
export function caseScene({ ladder, context, workload }: LadderScene, { hardShare, floor }: CascadiaCase): CaseScene {
  const { categories, models } = workload.outcomes;
  const mixed = (rows: Int32Array, share: number): Int32Array => (share === 1 ? rows : mixedRows(rows, categories, share));
  const own = { planning: mixed(context.planning, hardShare), measuring: mixed(context.measuring, hardShare) };
  const qualities = models.map(({ label }) => mean(Float64Array.from(own.planning, (row) => label[row] ?? 0)));
  const [smallest, largest] = [qualities[0] ?? 0, qualities.at(-1) ?? 100];
  const points = Math.floor(smallest + floor * (largest - smallest));
  return {
    name: caseName(ladder, { hardShare, floor }),
    floor: points,
    context: { ...context, ...own },
    profiled: hardShare === 1 ? undefined : mixed(context.planning, 0.5),
  };
}

/** The most rows that give a share of hard prompts (crux) without repeating any, ascending. */
function mixedRows(rows: Int32Array, categories: readonly string[], hardShare: number): Int32Array {
  const hard = rows.filter((row) => categories[row] === "crux");
  const easy = rows.filter((row) => categories[row] !== "crux");
  const count = Math.min(hard.length / hardShare, easy.length / (1 - hardShare));
  return Int32Array.from([...hard.slice(0, Math.round(count * hardShare)), ...easy.slice(0, Math.round(count * (1 - hardShare)))]).sort();
}

/** Out-of-fold scores for the planning half, and for the other those of heads that learnt from the planning half. */
async function withTrainedHeads(workload: Workload): Promise<OutcomeTable> {
  const { outcomes, seed } = workload;
  const byId = await promptTexts();
  const { planning, measuring } = halves(outcomes.promptIds.length, seed);
  const { scores } = trainedConfidence({
    workload,
    texts: outcomes.promptIds.map((id) => byId.get(id) ?? null),
    split: { planning, heldOut: measuring },
    tell: () => undefined,
  });
  const scored = withConfidenceColumns(
    outcomes,
    scores.models.map(({ model }) => model),
    scores.scores,
  );
  if (scored === null) throw new Error(`no scores of ${workload.name}`);
  return scored;
}
