import { aggregatorMessages } from "@/solver/ensemble/gate/aggregatorPrompt";
import { answerLimit } from "@/solver/ensemble/gate/answerLimit";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { chatEndpoint } from "../http/chatEndpoint";
import type { BodyRefusal } from "../http/endpoint";
import type { ModelRequest } from "../http/modelRequest";

/** Why an ensemble, which votes on one text of each expert, cannot answer a request; null if it can. */
export function ensembleBodyRefusal({ endpoint, model, body }: Pick<ModelRequest, "endpoint" | "model" | "body">): BodyRefusal | null {
  const refused = (param: string, message: string): BodyRefusal => ({ param, message });
  if (endpoint.enginePath !== chatEndpoint.enginePath)
    return refused("model", `${model} is an ensemble, which ${endpoint.path} does not serve; ask it at ${chatEndpoint.path}.`);
  const { n, tools, functions, logprobs } = body;
  if (n != null && n !== 1) return refused("n", "An ensemble gives one answer: omit `n` or set it to 1.");
  const calls = [tools, functions].some((list) => Array.isArray(list) && list.length > 0);
  if (calls) return refused(tools === undefined ? "functions" : "tools", "An ensemble votes on texts and does not support tool calls.");
  if (logprobs === true) return refused("logprobs", "An ensemble returns no token probabilities: omit `logprobs`.");
  return null;
}

/** The body of an expert's request: the client's own, addressed to the expert. Client and ensemble both limit the answer's length. */
export const expertBody = (asked: ModelRequest, expert: string, { maxTokens }: Ensemble): object => ({
  ...ownBody(asked, maxTokens),
  model: expert,
});

interface Aggregating {
  readonly answers: readonly { readonly text: string }[];
  readonly stream: boolean;
}

/** The body of the aggregator's request: the question and the available answers. A stream of it always reports its tokens. */
export function aggregatorBody(asked: ModelRequest, { aggregator }: Ensemble, { answers, stream }: Aggregating): object {
  const own = Array.isArray(asked.body.messages) ? asked.body.messages : [];
  const messages = answers.length === 0 ? own : aggregatorMessages(own, answers, aggregator.instruction);
  return {
    ...ownBody(asked, aggregator.maxTokens),
    ...{ model: aggregator.model, messages },
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

/** The client's body, changed to request a whole answer. */
function ownBody({ body, mostTokens }: ModelRequest, limit: number | undefined): object {
  const most = answerLimit(mostTokens, limit);
  const field = body.max_completion_tokens == null ? "max_tokens" : "max_completion_tokens";
  const bound = most === undefined ? {} : { [field]: most };
  return { ...body, stream: undefined, stream_options: undefined, n: undefined, logprobs: undefined, ...bound };
}
