import { Badge } from "../ui/Badge";
import { Figure } from "../ui/Figure";
import type { PlanFigure } from "./preparePlanFigures";

/** The plan's figures in a row. Estimates are paled, dotted and called so. */
export function PlanFigures({ figures, estimate }: { readonly figures: readonly PlanFigure[]; readonly estimate: boolean }) {
  return (
    <dl className="flex flex-wrap items-start gap-x-8 gap-y-3" aria-busy={estimate}>
      {figures.map((figure) => (
        <Figure
          key={figure.key}
          name={figure.name}
          value={figure.value}
          detail={figure.detail}
          estimate={estimate}
          testId={`figure-${figure.key}`}
        />
      ))}
      {estimate && <Badge tone="hatched">estimate</Badge>}
    </dl>
  );
}
