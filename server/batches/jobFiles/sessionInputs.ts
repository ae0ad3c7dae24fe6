import { once } from "node:events";
import { createGzip } from "node:zlib";
import type { Outcome, Prompt } from "@/server/contracts/studio";
import type { ExpertsOrder } from "@/server/store/documents/batchOrder";
import type { Store } from "@/server/store/store";
import { boundedBody } from "../batchAttempt";

/** The requests of one session, in the format of `vllm run-batch`: JSON lines, compressed. */
export interface SessionInput {
  readonly name: string;
  readonly gzip: Buffer;
}

/** Prompts that are in memory at once. */
const pageSize = 500;

/** Limit of a job file: some hundred thousand prompts of usual length, and a size that tools can still open. */
const mostBytes = 24 * 1024 * 1024;

const tooManyPrompts = `The prompts of all sessions are more than the ${mostBytes / 1024 ** 2} MB, compressed, that a job file carries: sample fewer of them, or have the studio run the batch.`;

export const sessionName = (worker: number, turn: number): string => `w${worker}-s${turn}`;

/**
 * Writes down the prompts of every session of an order, page by page.
 *
 * @returns inputs in the order of workers and turns; a sentence if they are too large, or texts are deleted.
 */
export async function sessionInputs(
  order: ExpertsOrder,
  prompts: Pick<Store["prompts"], "some">,
): Promise<Outcome<{ readonly inputs: readonly SessionInput[] }>> {
  const { request, ensemble, questions } = order;
  const sessions = order.sessions.flatMap((own, worker) => own.map((session, turn) => ({ ...session, name: sessionName(worker, turn) })));
  const asked = new Map<number, typeof sessions>();
  for (const session of sessions) for (const at of session.positions) asked.set(at, [...(asked.get(at) ?? []), session]);
  const files = new Map(sessions.map(({ name }) => [name, collected()]));
  const tooLarge = (): boolean => [...files.values()].reduce((sum, { bytes }) => sum + bytes(), 0) > mostBytes;
  for (let from = 0; from < questions; from += pageSize) {
    const page = prompts.some(request.promptSetId, from, Math.min(from + pageSize, questions));
    if (page.length === 0) return { ok: false, message: "The texts of the prompts were deleted meanwhile." };
    for (const { position, prompt } of page)
      for (const { name, model } of asked.get(position) ?? []) await files.get(name)?.write(requestLine(prompt, model, ensemble.maxTokens));
    if (tooLarge()) return { ok: false, message: tooManyPrompts };
  }
  const inputs = await Promise.all(sessions.map(async ({ name }) => ({ name, gzip: (await files.get(name)?.end()) ?? Buffer.alloc(0) })));
  return tooLarge() ? { ok: false, message: tooManyPrompts } : { ok: true, inputs };
}

/** One line of OpenAI's batch form. */
function requestLine({ id, body }: Prompt, model: string, maxTokens: number | undefined): string {
  const { n: _, stream: _s, stream_options: _o, ...asked } = boundedBody(body, maxTokens);
  return `${JSON.stringify({ custom_id: id, method: "POST", url: "/v1/chat/completions", body: { ...asked, model } })}\n`;
}

function collected() {
  const gzip = createGzip();
  const chunks: Buffer[] = [];
  let bytes = 0;
  gzip.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
  });
  return {
    /** Compressed so far; the last write may not be included yet. */
    bytes: () => bytes,
    async write(text: string): Promise<void> {
      if (!gzip.write(text)) await once(gzip, "drain");
    },
    async end(): Promise<Buffer> {
      const ended = once(gzip, "end");
      gzip.end();
      await ended;
      return Buffer.concat(chunks);
    },
  };
}
