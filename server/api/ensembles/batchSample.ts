import { setImmediate as nextTurn } from "node:timers/promises";
import type { AnsweredQuestion } from "@/server/batches/jobResults";
import type { Outcome } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { voteJudge } from "@/solver/ensemble/gate/voteReader";
import type { AnswerSample } from "@/solver/ensemble/replay/answerSample";

/** Rows read between two turns of the event loop: other requests are served meanwhile. */
const pageSize = 200;

export interface FinishedBatch {
  readonly name: string;
  readonly ensemble: Ensemble;
  readonly promptSetId: string;
  /** Questions that all experts have finished. */
  readonly answered: Iterable<AnsweredQuestion>;
  readonly prompts: Store["prompts"];
}

interface Row {
  readonly id: string;
  readonly category: string;
  readonly experts: ReadonlyMap<string, { readonly vote: string | null; readonly right: boolean; readonly outputTokens: number }>;
}

/**
 * A labelled sample of the answers of a batch's experts to prompts with a reference. The aggregator only answers questions on which experts
 * disagreed, so it is not among the models. A failed call has no answer, and so no length: the expert counts as not asked.
 *
 * @returns a sentence if no prompt had a reference, their texts are deleted, or no two experts answered the same questions.
 */
export async function batchSample({
  name,
  ensemble,
  promptSetId,
  answered,
  prompts,
}: FinishedBatch): Promise<Outcome<{ readonly sample: AnswerSample; readonly seen: number; readonly notes: readonly string[] }>> {
  const references = await referencesOf(promptSetId, prompts);
  if (references.size === 0)
    return { ok: false, message: `No prompt of "${name}" has a reference, so that nothing tells which answers were right.` };
  const isRight = voteJudge(ensemble.extraction);
  const rows: Row[] = [];
  let [seen, without, failures] = [0, 0, 0];
  for (const { id, experts } of answered) {
    seen += 1;
    if (seen % pageSize === 0) await nextTurn();
    const known = references.get(id);
    if (known === undefined) without += 1;
    else {
      const { reference, category } = known;
      const answering = experts.filter(({ failed }) => !failed);
      failures += experts.length - answering.length;
      const judged = answering.map(({ model, vote, outputTokens }) => {
        const right = isRight(vote, reference) === true;
        return [model, { vote, right, outputTokens: outputTokens ?? 0 }] as const;
      });
      if (judged.length > 0) rows.push({ id, category, experts: new Map(judged) });
    }
  }
  if (rows.length === 0) return { ok: false, message: `No question of "${name}" that has a reference was answered by its experts.` };
  if (!rows.some((row) => row.experts.size > 1))
    return { ok: false, message: `No question of "${name}" was answered by two experts, so that there is no agreement to try a gate on.` };
  const notes = [
    ...(without === 0 ? [] : [`${without} of its ${seen} questions have no reference and were left out.`]),
    ...(failures === 0 ? [] : [`Calls of experts that failed and were left out: ${failures}.`]),
  ];
  return { ok: true, sample: sampleOf(rows, ensemble.experts), seen, notes };
}

interface Known {
  readonly reference: string;
  readonly category: string;
}

async function referencesOf(setId: string, prompts: Store["prompts"]): Promise<ReadonlyMap<string, Known>> {
  const references = new Map<string, Known>();
  const count = prompts.count(setId);
  for (let from = 0; from < count; from += pageSize) {
    for (const { prompt } of prompts.some(setId, from, from + pageSize)) {
      const { id, reference, category } = prompt;
      if (reference !== null) references.set(id, { reference, category });
    }
    await nextTurn();
  }
  return references;
}

const sampleOf = (rows: readonly Row[], experts: readonly string[]): AnswerSample => ({
  questionIds: rows.map(({ id }) => id),
  categories: rows.map(({ category }) => category),
  models: experts.map((model) => {
    const own = rows.map((row) => row.experts.get(model));
    return {
      model,
      answers: own.map((one) => one?.vote ?? null),
      correct: Uint8Array.from(own, (one) => (one?.right === true ? 1 : 0)),
      outputTokens: Int32Array.from(own, (one) => one?.outputTokens ?? 0),
      asked: Uint8Array.from(own, (one) => (one === undefined ? 0 : 1)),
    };
  }),
});
