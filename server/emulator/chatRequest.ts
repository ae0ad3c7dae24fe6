import { z } from "zod";
import type { ApiError } from "@/server/contracts/http/apiServer";

const contentSchema = z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).nullish();

const chatSchema = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string(), content: contentSchema })).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  // vLLM's present engine accepts any integer, and ignores it unless it was started with priority scheduling, which this one is not.
  priority: z.int().optional(),
});

/** The fields of an OpenAI chat request that the emulation needs; every other field is accepted and has no effect. */
export interface ChatRequest {
  readonly model: string;
  /** Text of the last user message, or of the last message if there is no user message. */
  readonly text: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly maxTokens: number | null;
}

export type ParsedChat = { readonly ok: true; readonly chat: ChatRequest } | { readonly ok: false; readonly error: ApiError };

/** Reads a chat completion request; a bad field is refused as in vLLM, with 400 and the field's name. */
export function parseChatRequest(body: unknown): ParsedChat {
  const parsed = chatSchema.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const param = issue?.path.join(".") ?? "";
    return { ok: false, error: { status: 400, type: "BadRequestError", message: `Field ${param || "(body)"}: ${issue?.message}`, param } };
  }
  const { model, messages, stream, stream_options, max_tokens, max_completion_tokens } = parsed.data;
  const asked = messages.findLast((message) => message.role === "user") ?? messages.at(-1);
  return {
    ok: true,
    chat: {
      model,
      text: textOf(asked?.content),
      stream: stream === true,
      includeUsage: stream_options?.include_usage === true,
      maxTokens: max_completion_tokens ?? max_tokens ?? null,
    },
  };
}

function textOf(content: z.infer<typeof contentSchema>): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}
