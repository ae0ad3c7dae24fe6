import { mean } from "../numeric/quantile";
import { configurationQuality } from "../workflow/configurationOutcomes";
import { type ConfigurationSpace, modelIn } from "../workflow/configurationSpace";
import type { ProgramSample } from "../workflow/programSample";

/**
 * The single configuration for all programs of a workflow by per-workflow optimisation (Aragog, section 5.1): of those whose mean quality
 * over a sample is no less than that of the largest models throughout, or at most `mostLoss` less, the cheapest, among equals that with the
 * best quality.
 *
 * @param costs by model of the space, the cost of a request to it.
 * @param mostLoss points of 100 by which the mean may be below that of the largest models.
 * @returns its number in the space; the largest models throughout where the sample has no program of the workflow or no known quality.
 */
export function perWorkflowConfiguration(
  sample: ProgramSample,
  workflow: string,
  space: ConfigurationSpace,
  { costs, mostLoss }: { readonly costs: readonly number[]; readonly mostLoss: number },
): number {
  const largest = space.size - 1;
  const qualities = qualitiesOf(sample, workflow, space);
  const needed = (qualities[largest] ?? Number.NaN) - mostLoss;
  let [best, bestCost] = [largest, costOf(space, largest, costs)];
  for (let configuration = 0; configuration < space.size; configuration += 1) {
    const quality = qualities[configuration] ?? Number.NaN;
    if (!(quality >= needed)) continue;
    const cost = costOf(space, configuration, costs);
    if (cost < bestCost || (cost === bestCost && quality > (qualities[best] ?? Number.NaN))) [best, bestCost] = [configuration, cost];
  }
  return best;
}

/**
 * Mean quality (0..100) of a workflow's programs by configuration; NaN throughout where the sample has no program, or none of known
 * quality.
 */
export function qualitiesOf(sample: ProgramSample, workflow: string, space: ConfigurationSpace): Float64Array {
  const programs = Array.from(sample.workflow.keys()).filter((at) => sample.workflows[sample.workflow[at] ?? 0]?.name === workflow);
  const known = programs.map((program) => configurationQuality(sample, program, space)).filter((each) => !each.some(Number.isNaN));
  return Float64Array.from({ length: space.size }, (_, configuration) => mean(known.map((each) => each[configuration] ?? Number.NaN)));
}

const costOf = (space: ConfigurationSpace, configuration: number, costs: readonly number[]): number =>
  space.agents.reduce((sum, _, agent) => sum + (costs[modelIn(space, configuration, agent)] ?? 0), 0);
