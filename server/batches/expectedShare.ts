import type { Outcome } from "@/server/contracts/studio";
import type { ExpectedShare } from "@/server/store/documents/batchOrder";
import type { Store } from "@/server/store/store";
import { AGGREGATE_ALL } from "@/solver/ensemble/gate/ensembleDocument";
import { aggregatedShare } from "@/solver/ensemble/replay/aggregatedShare";
import { fittingSamples, type SamplesAsked } from "./fittingSamples";

/**
 * What share of a batch its gate may be expected to send to the aggregator, by the votes of the newest fitting sample; null where there is none, or all are
 * sent whatever the votes.
 *
 * @returns a sentence where a sample cannot be read now.
 */
export async function expectedShare(
  asked: SamplesAsked,
  store: Pick<Store, "answerSamples">,
): Promise<Outcome<{ readonly expected: ExpectedShare | null }>> {
  if (asked.ensemble.tau === AGGREGATE_ALL) return { ok: true, expected: null };
  for await (const read of fittingSamples(asked, store)) {
    if (!read.ok) return read;
    const share = aggregatedShare(asked.ensemble, read.sample);
    if (share !== null) return { ok: true, expected: { share, source: `the sample "${read.name}"` } };
  }
  return { ok: true, expected: null };
}
