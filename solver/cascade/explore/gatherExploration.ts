import type { RoutedCascade } from "../tables/deployedRows";
import { hostedUses } from "../tables/hostedStages";
import type { Exploration } from "./exploration";
import type { EvaluatedRouting, ExploreInput } from "./explorer";

/** Routings with their tables in the form that `choose` reads, here and in the browser. */
export function gatherExploration(input: ExploreInput, points: readonly EvaluatedRouting[]): Exploration {
  const { maxGpus } = input;
  const rows = points.reduce((sum, point) => sum + point.tables.length, 0);
  const exploration = {
    models: input.sample.models,
    requestsPerSecond: input.requestsPerSecond,
    maxGpus,
    leastGpus: leastGpusOf(input.shapes),
    usdPerGpuHour: input.usdPerGpuHour,
    judge: input.judge,
    qualityConfidence: input.qualityConfidence,
    routings: points.map(({ stages: own, thresholds, startBelow, routed, qualityLow, tables }) => ({
      stages: own,
      thresholds,
      startBelow,
      quality: routed.quality,
      qualityLow,
      share: routed.share,
      ...hostedOf(input, { stages: own, routed }),
      ...(routed.startShare === undefined ? {} : { startShare: routed.startShare }),
      ...(routed.judgements === undefined ? {} : { judgements: routed.judgements, rows: tables.length }),
    })),
    stageP95: new Float32Array(rows * maxGpus),
    tableOffset: new Int32Array(points.length),
    endToEndWeight: new Float32Array(rows),
    endToEndJudgeSeconds: Float32Array.from(points, (point) => point.judgeSeconds),
  };
  let row = 0;
  for (const [index, point] of points.entries()) {
    exploration.tableOffset[index] = row * maxGpus;
    for (const [stage, table] of point.tables.entries()) {
      exploration.stageP95.set(table, row * maxGpus);
      exploration.endToEndWeight[row] = point.weights[stage] ?? 0;
      row += 1;
    }
  }
  return exploration;
}

function hostedOf(input: ExploreInput, of: RoutedCascade): Pick<Exploration["routings"][number], "hosted"> {
  const uses = hostedUses(input, of);
  if (uses.length === 0) return {};
  const usdPerHour = uses.reduce((sum, use) => sum + use.usdPerHour, 0);
  return { hosted: { stages: uses.map(({ stage }) => stage), usdPerRequest: usdPerHour / 3600 / input.requestsPerSecond } };
}

/** Per model the GPUs of its smallest replica; 0 where none fits. */
export const leastGpusOf = (shapes: ExploreInput["shapes"]): readonly number[] =>
  shapes.map(([smallest]) => (smallest === undefined ? 0 : smallest.shape.tp * smallest.shape.pp));
