import type { Outcome } from "@/server/contracts/studio";
import { readSample } from "@/server/planning/ensembles/sampleThread";
import type { ExpectedShare } from "@/server/store/documents/batchOrder";
import type { Store } from "@/server/store/store";
import { AGGREGATE_ALL, type Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { aggregatedShare } from "@/solver/ensemble/replay/aggregatedShare";
import { type AnswerSample, tellsOf } from "@/solver/ensemble/replay/answerSample";

export interface SamplesAsked {
  readonly ensemble: Ensemble;
  /** Whether engines are emulated. */
  readonly emulated: boolean;
  readonly signal: AbortSignal;
}

/** Most samples that are searched, newest first. */
const mostLooked = 20;

/**
 * Saved samples that apply to an ensemble on such engines, newest first, a few thousand questions of each. Each is read when it is taken,
 * and reports if it cannot be read now.
 */
export async function* fittingSamples(
  { ensemble, emulated, signal }: SamplesAsked,
  { answerSamples }: Pick<Store, "answerSamples">,
): AsyncGenerator<Outcome<{ readonly name: string; readonly sample: AnswerSample }>> {
  const fitting = answerSamples.list().filter((sample) => tellsOf(sample, { experts: ensemble.experts, emulated }));
  for (const { id, name } of fitting.slice(0, mostLooked)) {
    const kept = answerSamples.stored(id);
    if (kept === null) continue;
    const read = await readSample(kept, signal);
    yield read.ok ? { ...read, name } : read;
  }
}

/**
 * The expected share of a batch that its gate sends to the aggregator, by the votes of the newest applicable sample; null if there is none,
 * or all are sent whatever the votes.
 *
 * @returns a sentence if a sample cannot be read now.
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
