import { membersOf } from "@/solver/workflow/configurationSet";
import { modelIn } from "@/solver/workflow/configurationSpace";
import type { ProgramConfigurations } from "./programConfigurations";

/** The cheapest of a program's configurations that does not need the models `out`, as bits; the first of equals. -1 where there is none. */
export function cheapestConfiguration(program: ProgramConfigurations, out: number): number {
  const { cost } = program.workflow;
  let best = -1;
  for (const configuration of membersOf(program.leftWithout(out))) {
    if (best < 0 || (cost[configuration] ?? 0) < (cost[best] ?? 0)) best = configuration;
  }
  return best;
}

/**
 * The configuration with which the program's agents that have no model yet would be answered soonest, along its critical path; the cheapest
 * of equals. -1 where there is none.
 *
 * @param seconds by model, the time that a call takes there if it arrives now.
 */
export function quickestConfiguration(program: ProgramConfigurations, out: number, seconds: readonly number[]): number {
  const { space, cost } = program.workflow;
  const finished = new Float64Array(space.agents.length);
  let best = -1;
  let bestSeconds = Number.POSITIVE_INFINITY;
  for (const configuration of membersOf(program.leftWithout(out))) {
    let latest = 0;
    for (let agent = 0; agent < finished.length; agent += 1) {
      let began = 0;
      for (const read of space.reads[agent] ?? []) began = Math.max(began, finished[read] ?? 0);
      const own = (program.chosen[agent] ?? -1) >= 0 ? 0 : (seconds[modelIn(space, configuration, agent)] ?? 0);
      finished[agent] = began + own;
      latest = Math.max(latest, began + own);
    }
    const sooner = latest < bestSeconds || (latest === bestSeconds && (cost[configuration] ?? 0) < (cost[best] ?? 0));
    if (best >= 0 && !sooner) continue;
    best = configuration;
    bestSeconds = latest;
  }
  return best;
}
