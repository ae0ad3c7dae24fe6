import type { Artefact } from "@/server/contracts/studio";

/** Shares of nothing are kept as none. */
const percent = (share: number): string =>
  Number.isFinite(share) ? `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %` : "an unknown share";

/**
 * What sets apart a capacity curve, in which accurate configurations are known, and a plan, in which a predictor says which are.
 *
 * @param predictor the newest one for the workflow and the plan's models; undefined: there is none.
 */
export function oracleNote(predictor: Artefact | undefined): string {
  const known = "Which configurations are accurate is known here from the labels, as no predictor knows it";
  const told = predictor?.heldOut.configurations;
  if (predictor === undefined || told === undefined)
    return `${known}: without a predictor only the largest models throughout count, the last point.`;
  return `${known}: predictor ${predictor.hash.slice(0, 12)} accepts ${percent(told.recall)} of the accurate ones on prompts it was not trained on (precision ${percent(told.precision)}), so a plan with it stands near the point where so many of them are left.`;
}
