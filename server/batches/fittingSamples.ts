import type { Outcome } from "@/server/contracts/studio";
import { readSample } from "@/server/planning/ensembles/sampleThread";
import type { Store } from "@/server/store/store";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { type AnswerSample, tellsOf } from "@/solver/ensemble/replay/answerSample";

export interface SamplesAsked {
  readonly ensemble: Ensemble;
  /** Whether engines are emulated. */
  readonly emulated: boolean;
  readonly signal: AbortSignal;
}

/** Samples that are looked at, newest first. */
const mostLooked = 20;

/**
 * Kept samples that tell of an ensemble on such engines, newest first, a few thousand questions of each. Each is read when it is taken, and says so where it
 * cannot be now.
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
