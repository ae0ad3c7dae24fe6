import type { Prompt, PromptSet } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";

/** Most prompts that are read. */
const MOST_LOOKED = 400;

/** Output limit in tokens of the prompt itself; null: the engine's limit. */
export function ownLimit({ max_tokens: legacy, max_completion_tokens: limit }: Prompt["body"]): number | null {
  const own = limit ?? legacy;
  return typeof own === "number" && own > 0 ? own : null;
}

/** The own limits of a set's prompts, of some hundreds spread over it if it has more; none if their texts are deleted. */
export function ownLimits(
  { id, prompts: count }: Pick<PromptSet, "id" | "prompts">,
  prompts: Store["prompts"],
): readonly (number | null)[] {
  const looked = Math.min(count, MOST_LOOKED);
  return Array.from({ length: looked }, (_, at) => prompts.prompt(id, Math.floor((at * count) / looked))).flatMap((prompt) =>
    prompt === null ? [] : [ownLimit(prompt.body)],
  );
}
