import { formatAge, formatCount, formatCounted, formatPercent } from "@/components/ui/format";
import type { LearntWorkflows } from "@/server/contracts/studio";
import { orderNames, placeNames } from "@/solver/lab/partNames";
import { learnerBounds } from "@/solver/workflow/learning/learnerBounds";

/** A gateway's learnt workflows, if any. */
export type Learnt = Extract<LearntWorkflows, { readonly state: "there" }>;

export interface Summary {
  readonly figures: readonly { readonly name: string; readonly value: string; readonly detail: string }[];
  /** Whether the policy in force uses what is learnt, in a sentence. */
  readonly use: string;
  readonly used: boolean;
  /** A note about the seconds on this page; null: they are wall seconds. */
  readonly clock: string | null;
  /** Irregularities, in a sentence; null: none. */
  readonly doubts: string | null;
}

/** A setting, not a measurement: without decimals. */
const quietText = `${learnerBounds.quietSeconds}\u00a0s`;

/** Prepares the head of the page. `nowMs`: null before the browser's clock is read. */
export function prepareSummary({ workflows, timeScale, emulated, policy }: Learnt, nowMs: number | null): Summary {
  const { learnt, used, sinceMs, memory } = workflows;
  const { programs, calls, openPrograms, unnamedCalls, lateCalls, missingUpstream, ties, forgotten } = learnt.counts;
  // Applications without a finished program are known by their agents.
  const applications = new Set([...learnt.applications.map(({ name }) => name), ...learnt.agents.map(({ application }) => application)]);
  const doubts = [
    lateCalls > 0 && `${formatCounted(lateCalls, "call")} arrived after the program was considered ended`,
    missingUpstream > 0 && `${formatCounted(missingUpstream, "call")} named earlier agents that were not found in their program`,
    ties > 0 && `${formatCounted(ties, "pair")} of calls are so close in time that parallel and sequential cannot be distinguished`,
    forgotten > 0 &&
      `${formatCounted(forgotten, "record")} of applications, agents or programs ${forgotten === 1 ? "was" : "were"} dropped for lack of memory`,
  ].filter((text) => text !== false);
  return {
    figures: [
      {
        name: "Programs",
        value: formatCount(programs),
        detail: `${formatCount(openPrograms)} not ended yet (${quietText} without a call end one)`,
      },
      { name: "Calls", value: formatCount(calls), detail: `of ${formatCounted(applications.size, "application")}` },
      {
        name: "Name their agent",
        value: formatPercent(calls === 0 ? null : 1 - unnamedCalls / calls),
        detail: unnamedCalls === 0 ? "all calls do" : `${formatCount(unnamedCalls)} do not`,
      },
      {
        name: "Learning for",
        value: nowMs === null ? "–" : formatAge(Math.max(0, (nowMs - sinceMs) / 1000)),
        detail: "wall time",
      },
    ],
    used,
    use: useText({ used, policy, packs: memory !== null }),
    clock:
      timeScale === 1
        ? emulated
          ? "Engines are emulated: latencies are the emulator's."
          : null
        : `Seconds are engine seconds, ${formatCount(timeScale)} per second of wall time${emulated ? "; engines are emulated" : ""}.`,
    doubts: doubts.length === 0 ? null : `${doubts.join("; ")}.`,
  };
}

/** Why there is no graph yet despite calls, in a sentence. */
export const learningText = ({ openPrograms }: Learnt["workflows"]["learnt"]["counts"]): string =>
  `${openPrograms === 1 ? "1 program is" : `${formatCount(openPrograms)} programs are`} still open. A graph appears when the first has ended: ${quietText} after its last call.`;

function useText({ used, policy, packs }: { readonly used: boolean; readonly policy: Learnt["policy"]; readonly packs: boolean }): string {
  if (policy === null) return used ? "The policy in force uses it." : "No policy in force uses it.";
  const parts = `${orderNames[policy.order]}, to the ${placeNames[policy.place]}`;
  if (!used) return `The plan in force does not use it: ${parts}.`;
  return `The plan in force uses it: ${parts}${packs ? ", packing memory over time" : ""}.`;
}
