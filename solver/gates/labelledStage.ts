/** Why a label of a served answer calibrates no gate. */
export type UnusableLabelKind =
  | "no-record"
  | "no-accepted-answer"
  | "no-answer-of-model"
  | "no-gate"
  | "raw-score-not-recorded"
  | "no-raw-score";

/** Each reason as the end of a sentence. */
export const unusableLabelWords: Readonly<Record<UnusableLabelKind, string>> = {
  "no-record": "the gateway, which keeps its newest 20000 records until it restarts, has none of the request",
  "no-accepted-answer": "the request has no accepted answer",
  "no-answer-of-model": "the model gave the request no answer",
  "no-gate": "no gate scored the answer",
  "raw-score-not-recorded": "the record has no raw score, as its gateway is of an earlier version",
  "no-raw-score": "the gate gave the answer no raw score",
};

/** What a decision record holds of a stage, as far as labels need it. */
interface RecordedStage {
  readonly model: string;
  readonly verdict: "accepted" | "escalated" | "failed";
  /** Absent if nothing scored the answer. */
  readonly gate?: { readonly kind: string; readonly raw?: readonly (number | null)[] | undefined } | undefined;
}

/** The answer that a label is about, with the raw scores of its gate, 0..100; of a gate in a sequence null where it scored none. */
interface LabelledStage {
  readonly kind: "usable";
  readonly model: string;
  readonly gate: string;
  readonly raw: readonly (number | null)[];
}

/**
 * The stage of a decision record whose answer a label is about. The one rule of which answers take labels: the studio's pages, its API and
 * the command line ask it.
 *
 * @param model the stage that is meant; undefined: the one whose answer the client got.
 * @returns the reason for which a label of the answer calibrates nothing, where it does not.
 */
export function labelledStage(
  stages: readonly RecordedStage[],
  model?: string,
): LabelledStage | { readonly kind: Exclude<UnusableLabelKind, "no-record"> } {
  const answered = stages.filter(({ verdict }) => verdict !== "failed");
  const stage =
    model === undefined ? answered.findLast(({ verdict }) => verdict === "accepted") : answered.findLast((each) => each.model === model);
  if (stage === undefined) return { kind: model === undefined ? "no-accepted-answer" : "no-answer-of-model" };
  if (stage.gate === undefined) return { kind: "no-gate" };
  const { kind: gate, raw } = stage.gate;
  if (raw === undefined) return { kind: "raw-score-not-recorded" };
  if (raw.every((score) => score === null)) return { kind: "no-raw-score" };
  return { kind: "usable", model: stage.model, gate, raw };
}
