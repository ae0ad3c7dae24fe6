import { Button } from "@/components/ui/Button";
import { formatCounted } from "@/components/ui/format";
import { JobProgress } from "../planning/JobProgress";
import type { Baselines } from "./useBaselines";

/** The progress of planning the baselines, which could not be planned and why, and whether they belong to the current knobs. */
export function BaselineBar({ baselines }: { readonly baselines: Baselines }) {
  const { error, systems, refused, current, job } = baselines;
  return (
    <div className="flex flex-col gap-1 text-xs text-ink-3">
      <JobProgress job={job} again="Plan the baselines" />
      {job.working === null && error !== null && (
        <p role="alert" className="text-sm text-bad">
          {error.message}{" "}
          <button type="button" className="font-medium text-accent underline underline-offset-2" onClick={job.ask}>
            Try again
          </button>
        </p>
      )}
      {job.working === null && error === null && !current && systems.length > 0 && (
        <p role="status" className="flex flex-wrap items-center gap-2 text-warn">
          The baselines use earlier settings. <Button onClick={job.ask}>Plan them again</Button>
        </p>
      )}
      {refused.length > 0 && (
        <details>
          <summary className="font-medium text-ink-2">{formatCounted(refused.length, "baseline")} without a plan</summary>
          <ul className="mt-1 flex list-disc flex-col gap-1 pl-4">
            {refused.map(({ name, reason }) => (
              <li key={name}>
                {name}: {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
