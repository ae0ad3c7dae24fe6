import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { RECORDED_RUN } from "@/solver/workflow/measuredPrograms";
import cases from "./cases.json" with { type: "json" };

/** Shares of single requests and of workflows' programs, an ensemble's and recorded runs among them, and how good single requests must be answered. */
export interface Mix {
  readonly name: string;
  /** Workflows by name, single requests first; shares sum to 1. */
  readonly shares: readonly { readonly workflow: string; readonly share: number }[];
  /** Share of the way from the smallest model's quality to the largest's. */
  readonly floor: number;
}

/**
 * The mix of a seed: a uniform share of single requests in the range of `cases.json`, the rest divided among the agents' workflows and the
 * ensemble by independent exponential weights, and one of the floors. Mixes of `tuning` are for choosing settings; all others
 * are measured.
 *
 * @param withRecordedRuns whether recorded runs of agents are one more workflow of the mix.
 */
export function mixOf(seed: number, withRecordedRuns = false): Mix {
  const random = seededRandom(mixSeed(seed, "mix of programs"));
  const { least, most } = cases.singleShare;
  const single = least + (most - least) * random.next();
  const workflows = [...cases.workflows, cases.ensemble.workflow, ...(withRecordedRuns ? [RECORDED_RUN] : [])];
  const weights = workflows.map(() => random.exponential(1));
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return {
    name: `mix ${seed}`,
    shares: [
      { workflow: cases.single, share: single },
      ...workflows.map((workflow, at) => ({ workflow, share: ((1 - single) * (weights[at] ?? 0)) / sum })),
    ],
    floor: cases.floors[random.int(cases.floors.length)] ?? 0.5,
  };
}
