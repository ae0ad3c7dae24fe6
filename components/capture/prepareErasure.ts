import type { EraseCaptured, ErasedCaptured } from "@/server/contracts/studio";
import { formatCounted } from "../ui/format";

/** The form's state. */
export interface ErasureDraft {
  readonly of: "key" | "user";
  readonly name: string;
  readonly typed: string;
  readonly reason: string;
}

/** Typed to confirm: erased data cannot be restored. */
export const confirmation = "erase";

/** The request; null while a part of it is missing. A user's id is taken as it is: blanks may belong to it. */
export function prepareErasure({ of, name, typed, reason }: ErasureDraft): Omit<EraseCaptured, "clusterId"> | null {
  if (typed.trim().toLowerCase() !== confirmation || name.trim() === "") return null;
  return { of: of === "key" ? { key: name } : { user: name }, reason };
}

/** What was deleted and what was not, in sentences. */
export function erasedSentence({ prompts, samples, inUse }: ErasedCaptured): string {
  const deleted = `${formatCounted(prompts, "prompt")} at the gateway and ${formatCounted(samples.length, "sample")} deleted.`;
  if (inUse.length === 0) return deleted;
  return `${deleted} Still in use, and not deleted: ${inUse.join(", ")}. End what asks them, and erase again.`;
}
