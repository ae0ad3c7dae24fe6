import type { ApplyStep, RehearsedStep } from "@/server/contracts/studio";
import { formatCounted } from "../ui/format";

export interface ShownRehearsal {
  /** Those that would fail first. */
  readonly steps: readonly {
    readonly id: string;
    readonly name: string;
    readonly ok: boolean;
    readonly text: string;
    readonly says: string;
  }[];
  readonly failing: number;
  readonly says: string;
}

/** The effect that each step would have, obstacles first. */
export function prepareRehearsal(rehearsed: readonly RehearsedStep[], steps: readonly ApplyStep[]): ShownRehearsal {
  const shown = rehearsed.map(({ stepId, ok, says }) => {
    const index = steps.findIndex(({ id }) => id === stepId);
    return { id: stepId, ok, says, name: `Step ${index === -1 ? stepId : index + 1}`, text: steps[index]?.text ?? "" };
  });
  const failing = shown.filter(({ ok }) => !ok);
  return { steps: [...failing, ...shown.filter(({ ok }) => ok)], failing: failing.length, says: saysOf(shown.length, failing.length) };
}

function saysOf(all: number, failing: number): string {
  if (all === 0) return "There is no step to rehearse: nothing changes.";
  if (failing === 0) return `${formatCounted(all, "step")} rehearsed: none would fail. Nothing was written.`;
  return `${failing} of ${formatCounted(all, "step")} would fail. Nothing was written.`;
}
