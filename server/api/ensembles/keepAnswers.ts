import { randomUUID } from "node:crypto";
import type { Store } from "@/server/store/store";
import type { Actor } from "../base/actor";
import type { TakenAnswers } from "./modelledAnswers";
import { sampleSummary } from "./sampleSummary";

/** Stores a sample of answers under a name, with an audit line; returns its id. */
export function keepAnswers(
  store: Store,
  { sample, ...taken }: TakenAnswers,
  { name, actor }: { readonly name: string; readonly actor: Actor },
): string {
  const [id, createdAt] = [randomUUID(), new Date().toISOString()];
  const summary = { id, name, createdAt, actor, ...taken, ...sampleSummary(sample) };
  const detail = `${summary.questions} questions, ${summary.models.length} models, ${taken.origin}`;
  return store.atomically(() => {
    store.answerSamples.insert(summary, sample);
    store.audit.add({
      at: createdAt,
      actor,
      action: "keep sample of answers",
      subject: name,
      detail,
      objectKind: "ensemble",
      objectId: id,
    });
    return id;
  });
}
