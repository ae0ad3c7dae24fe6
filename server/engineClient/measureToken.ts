import type { EngineAccess } from "@/server/contracts/engine/engineAccess";
import type { Finding } from "@/server/contracts/studio";
import { eventsOf } from "@/server/lib/eventStream";
import { askEndpoint, type EndpointAnswer } from "./askEndpoint";
import { failed, ok } from "./finding";

export interface TokenMeasure {
  readonly ttftSeconds: number | null;
  readonly finding: Finding;
}

const messages = [{ role: "user", content: "Say one word." }];

/** Has one token generated, streamed, so that its first byte is the time to the first token. */
export async function measureToken(
  target: EngineAccess & { readonly url: string },
  model: string,
  signal: AbortSignal,
): Promise<TokenMeasure> {
  const body = { model, max_tokens: 1, stream: true };
  let answer = await askEndpoint({ target, path: "/v1/chat/completions", body: { ...body, messages }, signal });
  // A model without a chat template takes the older endpoint only.
  if (answer.kind === "answered" && (answer.status === 400 || answer.status === 404))
    answer = await askEndpoint({ target, path: "/v1/completions", body: { ...body, prompt: "One" }, signal });
  if (answer.kind !== "answered" || answer.status !== 200 || !hasToken(answer.text))
    return {
      ttftSeconds: null,
      finding: failed("token", `${model} generates no token: ${whyNot(answer)}.`, "Look into the engine's log."),
    };
  const ttftSeconds = answer.firstMs / 1000;
  return { ttftSeconds, finding: ok("token", `${model} generates: first token after ${answer.firstMs.toFixed(0)} ms.`) };
}

/** An event with a choice before the end, or a whole completion where the engine does not stream. */
function hasToken(text: string): boolean {
  return [text, ...eventsOf(text).map(({ data }) => data)].some((part) => {
    try {
      const { choices } = JSON.parse(part) as { choices?: unknown };
      return Array.isArray(choices) && choices.length > 0;
    } catch {
      return false;
    }
  });
}

/** Nothing of what the engine wrote: it may repeat the key. */
function whyNot(answer: EndpointAnswer): string {
  if (answer.kind === "late") return "nothing came in time";
  if (answer.kind === "no-access") return answer.error.message;
  if (answer.kind === "failed") return `the connection broke (${answer.code === "" ? "no reason was given" : answer.code})`;
  if (answer.status === 401 || answer.status === 403) return `it refuses the key (${answer.status})`;
  return answer.status === 200 ? "its answer is no completion" : `it answers ${answer.status}`;
}
