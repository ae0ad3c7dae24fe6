import type { ProgramOutcome } from "../cluster/programOutcome";
import { mean } from "../numeric/quantile";
import type { ProgramSample } from "../workflow/programSample";
import type { WorkflowFigures } from "./labCell";
import { percentiles } from "./percentiles";

/** Figures of each workflow's programs, in the order of the sample's workflows; those of which none was completely served are left out. */
export function workflowFigures(outcome: ProgramOutcome, sample: ProgramSample): readonly WorkflowFigures[] {
  const { endToEndSeconds, outputTokens, quality } = outcome;
  const names = [...new Set(sample.workflows.map(({ name }) => name))];
  return names.flatMap((workflow) => {
    const served = Array.from(endToEndSeconds.keys()).filter(
      (program) =>
        sample.workflows[sample.workflow[program] ?? 0]?.name === workflow && Number.isFinite(endToEndSeconds[program] ?? Number.NaN),
    );
    if (served.length === 0) return [];
    const latency = Float64Array.from(served, (program) => endToEndSeconds[program] ?? 0);
    const known = Float64Array.from(served, (program) => quality[program] ?? Number.NaN).filter((value) => !Number.isNaN(value));
    return [
      {
        ...{ workflow, programs: served.length, meanSeconds: mean(latency), latencyQuantiles: percentiles(latency) },
        meanSecondsPerToken: mean(latency.map((seconds, at) => seconds / Math.max(1, outputTokens[served[at] ?? 0] ?? 0))),
        quality: known.length === 0 ? null : mean(known),
      },
    ];
  });
}
