import { isRecord } from "@/solver/collections/isRecord";
import { type Body, bodyFaultOf, commonFaults, commonFields, type Parsed, plain, refusal } from "./generationFields";
import { type FieldIssue, fieldError } from "./pydanticError";
import { fieldFaults, integer, truthy } from "./requestFields";
import { UnmetSchema } from "./schema/patternText";
import { answerForm } from "./structuredAnswer";
import { chosenCall, forcedCall, type ToolCall } from "./toolCall";

const kinds = {
  messages: "list",
  max_completion_tokens: "integer",
  logprobs: "boolean",
  top_logprobs: "integer",
  tools: "list",
} as const;

/** Reads a chat request; a bad field is refused as vLLM does. Fields that the emulation does not know have no effect. */
export function parseChatRequest(body: Body): Parsed {
  const fault = bodyFaultOf(body) ?? logprobFault(body) ?? toolFault(body);
  if (fault !== null) return { ok: false, error: fault };
  const issues: FieldIssue[] = [...messageIssues(body), ...commonFaults(body), ...fieldFaults(body, kinds)];
  if (issues.length > 0) return { ok: false, error: fieldError(issues) };
  const { messages, max_tokens, max_completion_tokens, logprobs, top_logprobs, echo, tools, tool_choice } = body;
  if (Array.isArray(messages) && messages.length === 0) {
    return { ok: false, error: plain("Cannot apply chat template to an empty conversation. Provide at least one message.") };
  }
  const formed = answerForm(body);
  if (!formed.ok) return formed;
  const called = callOf(body);
  if (!called.ok) return called;
  return {
    ok: true,
    request: {
      endpoint: "chat",
      ...commonFields(body),
      prompts: [{ text: textOfMessages(messages), tokens: null }],
      maxTokens: integer(max_completion_tokens ?? max_tokens, null),
      logprobs: truthy(logprobs) ? integer(top_logprobs, 0) : null,
      echo: truthy(echo),
      hasTools: Array.isArray(tools) && tool_choice !== "none",
      call: called.call,
      form: formed.form,
    },
  };
}

type Called = { readonly ok: true; readonly call: ToolCall | null } | Extract<Parsed, { readonly ok: false }>;

/** The call with which a chat is answered, or why none can be written. */
function callOf({ messages, tools, tool_choice: choice }: Body): Called {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const question = isRecord(last) && last.role === "user" ? textOf(last.content) : null;
  try {
    return { ok: true, call: forcedCall(tools, choice) ?? chosenCall(tools, choice, question) };
  } catch (error) {
    if (error instanceof UnmetSchema) return { ok: false, error: plain(error.message) };
    throw error;
  }
}

/** Text of the last user message, or of the last message if there is no user message. */
export function textOfMessages(messages: unknown): string {
  const all = Array.isArray(messages) ? messages.filter(isRecord) : [];
  return textOf((all.findLast(({ role }) => role === "user") ?? all.at(-1))?.content);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content.filter(isRecord) : [];
  return parts.map(({ text }) => (typeof text === "string" ? text : "")).join("");
}

function messageIssues(body: Body): FieldIssue[] {
  const { messages } = body;
  if (messages === undefined) return [{ type: "missing", loc: ["body", "messages"], msg: "Field required", input: body }];
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message, index): FieldIssue[] => {
    const loc = ["body", "messages", index];
    if (!isRecord(message)) return [{ type: "dict_type", loc, msg: "Input should be a valid dictionary", input: message }];
    return typeof message.role === "string" ? [] : [{ type: "missing", loc: [...loc, "role"], msg: "Field required", input: message }];
  });
}

function logprobFault({ logprobs, top_logprobs }: Body) {
  const names = typeof top_logprobs === "number" && top_logprobs !== 0;
  return names && !truthy(logprobs) ? refusal("when using `top_logprobs`, `logprobs` must be set to true.", "top_logprobs") : null;
}

/** A choice of tools that cannot be met; null: none. */
function toolFault(body: Body) {
  const { tools, tool_choice: choice } = body;
  if (Array.isArray(tools) && tools.length === 0)
    return refusal("`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.", "tools");
  if (choice === undefined || choice === null || choice === "none") return null;
  if (tools === undefined || tools === null) return refusal("When using `tool_choice`, `tools` must be set.", "tool_choice");
  if (choice !== "auto" && choice !== "required" && !isRecord(choice)) {
    const message = `Invalid value for \`tool_choice\`: ${choice}! Only named tools, "none", "auto" or "required" are supported.`;
    return refusal(message, "tool_choice");
  }
  const { name } = isRecord(choice) && isRecord(choice.function) ? choice.function : {};
  const isKnown = Array.isArray(tools) && tools.some((tool) => isRecord(tool) && isRecord(tool.function) && tool.function.name === name);
  if (isRecord(choice) && !isKnown)
    return refusal("The tool specified in `tool_choice` does not match any of the specified `tools`", "tool_choice");
  return null;
}
