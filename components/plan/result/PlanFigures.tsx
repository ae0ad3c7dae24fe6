import { Badge } from "@/components/ui/Badge";
import { Figure } from "@/components/ui/Figure";
import { DoubtBadge } from "./DoubtBadge";
import type { PlanFigure } from "./preparePlanFigures";

/** The plan's figures in a row. Estimates are paled, dotted and labelled as such. */
export function PlanFigures({ figures, estimate }: { readonly figures: readonly PlanFigure[]; readonly estimate: boolean }) {
  return (
    <div className="flex flex-wrap items-start gap-x-8 gap-y-3" aria-busy={estimate}>
      <dl
        className={`grid flex-1 grid-cols-2 items-start gap-x-6 gap-y-3 md:grid-cols-3 ${figures.length > 6 ? "xl:grid-cols-7" : "xl:grid-cols-6"}`}
      >
        {figures.map((figure) => (
          <Figure
            key={figure.key}
            name={figure.name}
            value={figure.value}
            detail={
              <>
                {figure.detail} {figure.doubt && <DoubtBadge doubt={figure.doubt} />}
                {figure.more !== undefined && <span className="block">{figure.more}</span>}
              </>
            }
            estimate={estimate}
            testId={`figure-${figure.key}`}
          />
        ))}
      </dl>
      {estimate && <Badge tone="hatched">estimate</Badge>}
    </div>
  );
}
