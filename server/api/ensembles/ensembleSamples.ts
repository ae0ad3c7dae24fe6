import { batchVotes } from "@/server/batches/batchVotes";
import type { AnswerSampleSummary, Outcome, SurveyedAnswers } from "@/server/contracts/studio";
import type { KeepSample } from "@/server/contracts/studio/ensembles";
import { importAnswers, surveyAnswers } from "@/server/planning/imports/importAnswers";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import type { Actor } from "../base/actor";
import type { ServiceParts } from "../base/serviceParts";
import { batchSample } from "./batchSample";
import { keepAnswers } from "./keepAnswers";
import { modelledAnswers, type TakenAnswers } from "./modelledAnswers";

const goneUpload = { ok: false, message: "The uploaded file is not kept any more: send it again." } as const;

/** Samples of labelled answers: made from uploads, finished batches and workloads. */
export function createEnsembleSamples({ store, uploads }: Pick<ServiceParts, "store" | "uploads">) {
  const { note } = store.audit;

  async function taken(source: KeepSample["source"]): Promise<Outcome<{ readonly taken: TakenAnswers }>> {
    if (source.kind === "upload") {
      const file = uploads.open(source.uploadId);
      if (file === null) return goneUpload;
      const read = await importAnswers(file, source.models);
      return read.ok ? { ok: true, taken: { sample: read.sample, origin: "uploaded", notes: [`Of ${file.name}.`, ...read.notes] } } : read;
    }
    if (source.kind === "workload") {
      const workload = loadWorkload(store, source.workloadId);
      if (workload === null) return { ok: false, message: `There is no workload ${source.workloadId}.` };
      return { ok: true, taken: modelledAnswers(workload) };
    }
    return ofBatch(source.batchId);
  }

  async function ofBatch(batchId: string): Promise<Outcome<{ readonly taken: TakenAnswers }>> {
    const batch = store.batches.get(batchId);
    if (batch === null) return { ok: false, message: "There is no such batch." };
    const { promptSetId, order } = batch;
    const { ensemble, questions, emulated } = order;
    const { name } = order.request;
    if (batch.endedAt === null) return { ok: false, message: `"${name}" is not over yet: wait for its end, or stop it.` };
    const { prompts } = store;
    const made = await batchSample({ name, ensemble, promptSetId, answered: batchVotes(batch, store), prompts });
    if (!made.ok) return made;
    const { sample, seen, notes } = made;
    const out = questions - seen;
    const stopped =
      out === 0 ? [] : [`${out} of ${questions} questions were left out: it was stopped before all of their experts were through.`];
    return {
      ok: true,
      taken: { sample, origin: emulated ? "emulated" : "batch", notes: [`Of the batch "${name}".`, ...stopped, ...notes] },
    };
  }

  return {
    /** Newest first. */
    samples: (): readonly AnswerSampleSummary[] => store.answerSamples.list(),
    /** The content of a table of answers; nothing is stored. */
    async survey(uploadId: string): Promise<Outcome<{ readonly survey: SurveyedAnswers }>> {
      const source = uploads.open(uploadId);
      return source === null ? goneUpload : surveyAnswers(source);
    },
    async keepSample({ name, source }: KeepSample, actor: Actor): Promise<Outcome<{ readonly id: string }>> {
      const made = await taken(source);
      if (!made.ok) return made;
      const id = keepAnswers(store, made.taken, { name, actor });
      if (source.kind === "upload") uploads.remove(source.uploadId);
      return { ok: true, id };
    },
    removeSample: (id: string, actor: Actor): Outcome<object> =>
      store.atomically((): Outcome<object> => {
        const kept = store.answerSamples.list().find((one) => one.id === id);
        if (kept === undefined || !store.answerSamples.remove(id)) return { ok: false, message: "There is no such sample of answers." };
        note(actor, "remove sample of answers", kept.name, id);
        return { ok: true };
      }),
  };
}
