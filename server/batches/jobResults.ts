import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { z } from "zod";
import type { Outcome } from "@/server/contracts/studio";
import type { CsvSource } from "@/server/planning/imports/readCsv";
import type { Extraction } from "@/solver/ensemble/gate/ensembleDocument";
import { voteReader } from "@/solver/ensemble/gate/voteReader";

/** An expert's result for a question: its vote, and the length of its answer. An expert whose calls all failed has none. */
interface ExpertVote {
  readonly model: string;
  readonly vote: string | null;
  readonly outputTokens: number | null;
  readonly failed: boolean;
}

/** A question with the experts that have finished it. */
export interface AnsweredQuestion {
  readonly id: string;
  readonly experts: readonly ExpertVote[];
}

const answerSchema = z.object({
  model: z.string(),
  choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }) })).min(1),
  usage: z.object({ completion_tokens: z.int().nonnegative() }).nullish(),
});
/** For a failed request the body is an error's, or missing. */
const lineSchema = z.object({
  custom_id: z.string(),
  response: z.object({ status_code: z.number(), body: answerSchema.nullable().catch(null) }).nullable(),
});

/**
 * Reads what the workers of a job wrote, in the form of vLLM's `run-batch`: votes are extracted from answers while reading, texts are not
 * stored.
 *
 * @returns questions by id, with the number of requests that failed; a sentence with file and line if a line is no result.
 */
export async function readJobResults(
  files: readonly CsvSource[],
  extraction: Extraction,
): Promise<Outcome<{ readonly questions: readonly AnsweredQuestion[]; readonly failed: number }>> {
  const readVote = voteReader(extraction);
  const questions = new Map<string, Map<string, ExpertVote>>();
  let failed = 0;
  for (const { name, stream } of files) {
    let at = 0;
    for await (const line of createInterface({ input: Readable.from(stream), crlfDelay: Number.POSITIVE_INFINITY })) {
      at += 1;
      if (line.trim() === "") continue;
      const parsed = lineSchema.safeParse(jsonOf(line));
      if (!parsed.success) return { ok: false, message: `${name} line ${at}: this is no line of results of vllm run-batch.` };
      const { custom_id: id, response } = parsed.data;
      if (response === null || response.status_code !== 200 || response.body === null) {
        failed += 1;
        continue;
      }
      const { model, choices, usage } = response.body;
      const experts = questions.get(id) ?? new Map<string, ExpertVote>();
      questions.set(id, experts);
      const vote = readVote(choices[0]?.message.content ?? "");
      if (!experts.has(model)) experts.set(model, { model, vote, outputTokens: usage?.completion_tokens ?? null, failed: false });
    }
  }
  return { ok: true, questions: [...questions].map(([id, experts]) => ({ id, experts: [...experts.values()] })), failed };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
