import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { JobProgress } from "../planning/JobProgress";
import type { Planning } from "../planning/usePlanning";
import { type HighestRateAnswer as Answer, prepareHighestRate } from "./prepareHighestRate";

/** The answer of the search for the highest rate, below the sliders that it depends on. */
export function HighestRateAnswer({ planning }: { readonly planning: Planning }) {
  const answer = prepareHighestRate(planning);
  return (
    <section aria-label="Highest rate" data-testid="highest-rate" className="flex flex-col gap-1.5 border-t pt-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-sm font-medium text-ink-2">Highest rate</h3>
        {answer.kind === "earlier" && <Badge tone="hatched">earlier settings</Badge>}
      </div>
      <Content answer={answer} onAgain={planning.exact.ask} />
      <JobProgress job={planning.exact} again="Search again" />
    </section>
  );
}

function Content({ answer, onAgain }: { readonly answer: Answer; readonly onAgain: () => void }) {
  switch (answer.kind) {
    case "no-budget":
      return <p className="text-sm text-ink-2">Set a latency budget above: the highest rate is the one that just keeps it.</p>;
    case "none-yet":
      return <p className="text-sm text-ink-3">Not found yet.</p>;
    case "failed":
      return (
        <div role="alert" className="flex flex-col items-start gap-2">
          <p className="text-sm text-bad [overflow-wrap:anywhere]">{answer.message}</p>
          <Button onClick={onAgain}>Search again</Button>
        </div>
      );
    case "infeasible":
      // The plan's panel announces the reason.
      return (
        <p className="text-sm text-ink-2">
          <span className="font-medium text-ink">No rate that was tried has a plan.</span> {answer.reason} Ways out are listed under The
          plan.
        </p>
      );
    case "found":
    case "earlier": {
      const { rate, p95, next } = answer;
      const isEarlier = answer.kind === "earlier";
      return (
        <>
          <p role="status" className={isEarlier ? "text-ink-3" : ""}>
            <span
              data-testid="highest-rate-value"
              className={`block text-xl font-semibold tracking-tight ${isEarlier ? "underline decoration-dotted decoration-1 underline-offset-4" : ""}`}
            >
              {rate}
            </span>
            <span className="block text-sm">{p95}</span>
            <span className="block text-sm font-medium">{next.says}.</span>
          </p>
          {isEarlier ? (
            <p data-testid="highest-rate-now" className="text-sm text-ink-2">
              {answer.now}
            </p>
          ) : (
            next.reason !== "" && <p className="text-xs text-ink-3">{next.reason}</p>
          )}
        </>
      );
    }
  }
}
