import { createHash } from "node:crypto";
import type { OutcomeTable } from "@/solver/workload/workload";

/**
 * SHA-256, in hex, of a table's prompts together with the labels of one model, by model in the table's order. Tables with an equal one have
 * the same prompts in the same rows, and the same labels of that model, whatever their arrivals.
 */
export function labelHashes({
  promptIds,
  inputTokens,
  models,
}: OutcomeTable): readonly { readonly model: string; readonly labels: string }[] {
  const prompts = createHash("sha256").update(JSON.stringify(promptIds)).update(bytesOf(inputTokens));
  return models.map(({ model, label }) => ({ model, labels: prompts.copy().update(bytesOf(label)).digest("hex") }));
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array | Float64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
