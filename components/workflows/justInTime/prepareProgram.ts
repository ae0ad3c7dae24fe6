import { formatCount, formatCounted, shortHash } from "@/components/ui/format";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { countOf } from "@/solver/workflow/configurationSet";
import type { Path } from "./prepareLattice";

const counted = (words: readonly number[]): number => countOf(Uint32Array.from(words));

/**
 * The program that the address names, else the newest. One that the gateway no longer reports is shown in its last known state (`kept`),
 * which `isKept` indicates.
 */
export function programInView(
  programs: readonly Path[],
  named: string | null,
  kept: Path | null,
): { readonly path: Path | null; readonly isKept: boolean } {
  const found = programs.find(({ programId }) => programId === named);
  if (found === undefined && kept !== null && kept.programId === named) return { path: kept, isKept: true };
  return { path: found ?? programs[0] ?? null, isKept: false };
}

/** Programs to choose from, newest first: workflow, progress, the remaining share of the accurate configurations, and name. */
export const programOptions = (programs: readonly Path[]) =>
  programs.map((path) => {
    const { programId, workflow, agents } = path;
    const decided = path.chosen.filter((model) => model >= 0).length;
    const state =
      decided === agents.length ? "every agent has its model" : `${decided} of ${formatCounted(agents.length, "agent")} have a model`;
    return {
      value: programId,
      text: `${workflow}: ${state}, ${formatCount(counted(path.left))} of ${formatCount(counted(path.accurate))} left (${programId})`,
    };
  });

/** The source of a program's accurate configurations, in a sentence; empty while the policy in force is not known. */
export function heldBySays({ workflow, accurate, oddsFactor }: Path, policy: PolicyDocument | null): string {
  if (policy === null) return "";
  const declared = policy.kind === "just-in-time" ? policy.workflows.find((each) => each.workflow.name === workflow) : undefined;
  if (declared === undefined) return "The accurate configurations come from another plan.";
  const { predictor } = declared;
  if (predictor === undefined) return "The plan in force names no predictor: only the largest models count as accurate.";
  const who = `predictor ${shortHash(predictor)}, which learnt from executed or modelled outcomes`;
  const count = counted(accurate);
  return count === 1
    ? `Only the largest models count as accurate: ${who}, accepted no other or did not finish.`
    : `${formatCount(count)} configurations are predicted accurate by ${who}.${scoresSay(oddsFactor)}`;
}

/** What scores of a program's answers changed so far, as a further sentence. */
function scoresSay(oddsFactor: number | undefined): string {
  if (oddsFactor === undefined) return "";
  const factor = Number(oddsFactor.toPrecision(2));
  return ` Scores of its answers multiply the odds that it ends accurate by ${factor}: ${factor < 1 ? "fewer configurations may count" : "more configurations may count"}.`;
}
