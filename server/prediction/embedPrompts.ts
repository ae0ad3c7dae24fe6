import { loadEncoder } from "@/server/encoders/encoder";
import { workerFile } from "@/server/threads/workerFile";
import type { Embeddings } from "@/solver/prediction/confidence";

/**
 * An encoder's embeddings of prompts, part by part; each part names rows of the texts.
 *
 * @throws Error, in a sentence, if a text is not available or the encoder cannot be used.
 */
export async function embedPrompts(
  folder: string,
  texts: readonly (string | null)[] | null,
  parts: readonly Int32Array[],
  tell: (doing: string) => void,
): Promise<readonly Embeddings[]> {
  if (texts === null || texts.includes(null))
    throw new Error(
      "An encoder reads texts, and those of this workload's prompts are not at hand: make a workload of a profile whose prompts are kept, or train on words.",
    );
  tell("Loading the encoder");
  const encoder = await loadEncoder(folder, workerFile("encoderProcess"));
  const whole = parts.reduce((sum, { length }) => sum + length, 0);
  let before = 0;
  try {
    const found: Embeddings[] = [];
    for (const rows of parts) {
      const { dimensions, values } = await encoder.embed(
        Array.from(rows, (row) => texts[row] ?? ""),
        (done) => tell(`Encoding ${before + done} of ${whole} prompts`),
      );
      found.push({ encoder: { name: encoder.name, sha256: encoder.sha256 }, dimensions, values });
      before += rows.length;
    }
    return found;
  } finally {
    encoder.close();
  }
}
