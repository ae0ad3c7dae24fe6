import { isRecord } from "@/solver/collections/isRecord";
import { eventStream } from "./endpoint";

/**
 * A whole completion as the server-sent events a streaming client expects: per choice a chunk with the role, one with the
 * content and the rest of the message, one with the finish reason; then usage if asked for, then `[DONE]`.
 */
export function completionEvents(
  completion: Readonly<Record<string, unknown>>,
  { includeUsage }: { readonly includeUsage: boolean },
): string {
  const { choices, usage, object: _, ...rest } = completion;
  const head = { ...rest, object: "chat.completion.chunk" };
  const list = Array.isArray(choices) ? choices.filter(isRecord) : [];
  const events: unknown[] = [];
  for (const [position, choice] of list.entries()) {
    const { message, finish_reason: finishReason, index: given, logprobs, ...other } = choice;
    const index = typeof given === "number" ? given : position;
    const { role, ...said } = isRecord(message) ? message : {};
    const chunk = (members: Record<string, unknown>): unknown => ({ ...head, choices: [{ index, finish_reason: null, ...members }] });
    events.push(chunk({ delta: { role: role ?? "assistant", content: "" } }));
    const delta = deltaOf(said);
    if (Object.keys(delta).length > 0) events.push(chunk({ delta, ...(logprobs ? { logprobs } : {}) }));
    events.push(chunk({ ...other, delta: {}, finish_reason: finishReason ?? "stop" }));
  }
  if (includeUsage && usage) events.push({ ...head, choices: [], usage });
  return eventStream(events);
}

/** The non-empty members of a message; tool calls get the index that a stream needs. */
function deltaOf(message: Record<string, unknown>): Record<string, unknown> {
  const delta: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(message)) {
    if (value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) continue;
    delta[name] =
      name === "tool_calls" && Array.isArray(value) ? value.map((call, index) => (isRecord(call) ? { index, ...call } : call)) : value;
  }
  return delta;
}
