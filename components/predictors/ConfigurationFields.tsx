"use client";

import { ClusterLink } from "../shell/ClusterLink";
import { Check } from "../ui/Check";

/**
 * Models that a declared workflow may run on, among those that a workload has answers of or a file has runs on; or a link to declare one
 * first.
 */
export function ConfigurationFields({
  isDeclared,
  offered,
  chosen,
  onChoose,
}: {
  readonly isDeclared: boolean;
  /** Smallest first. */
  readonly offered: readonly string[];
  readonly chosen: readonly string[];
  readonly onChoose: (models: readonly string[]) => void;
}) {
  if (!isDeclared)
    return (
      <p className="max-w-prose text-sm text-ink-2">
        No workflow is declared yet. Declare one on the{" "}
        <ClusterLink to="/workflows?tab=declared" className="underline underline-offset-2">
          Workflows page
        </ClusterLink>
        .
      </p>
    );
  return (
    <fieldset className="flex flex-wrap gap-x-6">
      <legend className="text-xs text-ink-3">Models that its agents may run on, smallest first; two at least</legend>
      {offered.map((model) => (
        <Check
          key={model}
          checked={chosen.includes(model)}
          onChange={(checked) => onChoose(offered.filter((one) => (one === model ? checked : chosen.includes(one))))}
        >
          {model}
        </Check>
      ))}
    </fieldset>
  );
}
