import { Button } from "@/components/ui/Button";
import type { PlannedBaseline, BetterBanner as Prepared } from "./prepareBetter";

/** Says that a baseline is better than the recommended plan, and plans it or says why it cannot be planned. */
export function BetterBanner({ banner, onPlan }: { readonly banner: Prepared; readonly onPlan: (baseline: PlannedBaseline) => void }) {
  const { says, plannable } = banner;
  return (
    <p
      role="status"
      data-testid="better-baseline"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn"
    >
      <span>{says}</span>
      {plannable !== null && (
        <Button onClick={() => onPlan(plannable)}>{plannable.kind === "replicas" ? "Plan it with its replicas" : "Plan it"}</Button>
      )}
    </p>
  );
}
