import { Figure } from "../ui/Figure";
import type { PlacementPicture } from "./preparePlacement";

/** What a placement is worth beside the baseline it is drawn with. */
export function PlacementFigures({ picture, paled }: { readonly picture: PlacementPicture; readonly paled: boolean }) {
  const { speedUp, makespan, loads, idle } = picture;
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-3" data-testid="placement-figures">
      <Figure name="Experts done after" value={makespan.value} detail={makespan.detail} estimate={paled} testId="figure-makespan" />
      {speedUp !== null && (
        <Figure name={speedUp.name} value={speedUp.value} detail={speedUp.detail} estimate={paled} testId="figure-speed-up" />
      )}
      <Figure name="Loads" value={loads.value} detail={loads.detail} estimate={paled} />
      <Figure name="Idle" value={idle.value} detail={idle.detail} estimate={paled} testId="figure-idle" />
    </dl>
  );
}
