import type { Outcome } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import { type UserModel, userModelSchema } from "@/solver/hardware/cardSchema";
import { parseHuggingFaceConfig } from "@/solver/hardware/huggingFaceConfig";

/** An id before the user chose one: the repository's name without its owner, as shipped cards write theirs. */
const idOf = (repository: string | null): string => (repository?.split("/").at(-1) ?? "my-model").toLowerCase().slice(0, 80);

/**
 * A model from what a user pasted: the `config.json` of a Hugging Face repository, or a model card in the format of `cards.json`. Data
 * missing in a configuration (usually an id) is filled in for review.
 */
export function readModelText(text: string): Outcome<{ readonly model: UserModel; readonly notes: readonly string[] }> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (problem) {
    return { ok: false, message: `Not valid JSON: ${reasonOf(problem)}.` };
  }
  if (typeof json === "object" && json !== null && "architecture" in json) {
    const card = userModelSchema.safeParse(json);
    if (card.success) return { ok: true, model: card.data, notes: [] };
    const issue = card.error.issues[0];
    return { ok: false, message: `${issue?.path.join(".") || "The card"}: ${issue?.message}.` };
  }
  const read = parseHuggingFaceConfig(json);
  if (!read.ok) return read;
  const { ok: _, notes, huggingFace, ...figures } = read;
  const source = huggingFace === null ? "config.json given by you" : `config.json of ${huggingFace}, given by you`;
  return {
    ok: true,
    model: { ...figures, id: idOf(huggingFace), huggingFace, kvBytesPerValue: 2, publishedParamsB: null, source },
    notes,
  };
}
