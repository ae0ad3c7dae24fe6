import type { ExpectedShare } from "@/server/store/batchOrder";
import type { Store } from "@/server/store/store";
import { aggregatedShare } from "@/solver/ensemble/aggregatedShare";
import { AGGREGATE_ALL, type Ensemble } from "@/solver/ensemble/ensembleDocument";

/** Samples that are looked at, newest first. */
const mostLooked = 20;

/**
 * What share of a batch its gate may be expected to send to the aggregator, by the votes of the newest kept sample of the experts' answers: real ones for
 * real engines, those of a model for emulated ones.
 *
 * @returns null where there is no such sample, or all are sent whatever the votes.
 */
export function expectedShare(
  ensemble: Ensemble,
  emulated: boolean,
  { answerSamples }: Pick<Store, "answerSamples">,
): ExpectedShare | null {
  if (ensemble.tau === AGGREGATE_ALL) return null;
  const fitting = answerSamples.list().filter(({ origin, models }) => {
    const isModelled = origin === "modelled" || origin === "emulated";
    return isModelled === emulated && ensemble.experts.every((expert) => models.some(({ model }) => model === expert));
  });
  for (const { id, name } of fitting.slice(0, mostLooked)) {
    const kept = answerSamples.get(id);
    const share = kept && aggregatedShare(ensemble, kept.sample);
    if (share !== null) return { share, source: `the sample "${name}"` };
  }
  return null;
}
