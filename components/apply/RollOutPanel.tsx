import type { PlanDiff } from "@/server/contracts/studio";
import { Figure } from "../ui/Figure";
import { formatCount, formatPercent } from "../ui/format";
import { DiffList } from "./DiffList";
import { stopsWithoutDrain } from "./prepareRevisions";

/** What changes, what it costs while it changes, and the raw document. */
export function RollOutPanel({ diff, document }: { readonly diff: PlanDiff; readonly document: unknown }) {
  const atRisk = stopsWithoutDrain(diff.steps);
  return (
    <div className="flex flex-col gap-4">
      <DiffList lines={diff.lines} />
      <dl className="flex flex-wrap gap-x-8 gap-y-3 border-t pt-4">
        <Figure
          name="Capacity out at the worst moment"
          value={formatPercent(diff.capacityDip)}
          detail={
            diff.capacityDip === 0
              ? "no model that serves loses any"
              : "of the model hit hardest: too few spare GPUs to bring its successor up first"
          }
        />
        <Figure name="Spare GPUs" value={formatCount(diff.spareGpus)} detail="free for new engines before old ones stop" />
        <Figure
          name="Engines stopped undrained"
          value={formatCount(atRisk)}
          detail={
            atRisk === 0
              ? "requests at risk: none, each engine drains first"
              : "their requests are retried before the first token, else lost"
          }
        />
      </dl>
      <details className="border-t pt-3">
        <summary className="text-sm font-medium text-ink-2">Raw document</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
        <pre tabIndex={0} className="mt-2 max-h-96 overflow-auto rounded bg-sunken p-3 font-mono text-xs">
          {JSON.stringify(document, null, 2)}
        </pre>
      </details>
    </div>
  );
}
