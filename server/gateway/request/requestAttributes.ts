import type { Attributes } from "@opentelemetry/api";
import { isRecord } from "@/solver/collections/isRecord";
import { shownName } from "../http/clientNames";
import type { ModelRequest } from "../http/modelRequest";

/** Stop sequences in a span: as many as OpenAI's API takes. */
const mostStops = 4;

const numbers = {
  temperature: "gen_ai.request.temperature",
  top_p: "gen_ai.request.top_p",
  top_k: "gen_ai.request.top_k",
  frequency_penalty: "gen_ai.request.frequency_penalty",
  presence_penalty: "gen_ai.request.presence_penalty",
} as const;

/**
 * What a request asks of the model, by OpenTelemetry's conventions for generative AI. Fields of another type than the conventions' are left
 * out; prompts and tools are never read.
 */
export function requestAttributes({ body, programId, inSession, mostTokens, stream }: ModelRequest): Attributes {
  const attributes: Attributes = { "gen_ai.request.stream": stream };
  if (inSession) attributes["gen_ai.conversation.id"] = programId;
  if (Number.isSafeInteger(mostTokens)) attributes["gen_ai.request.max_tokens"] = Number(mostTokens);
  for (const [field, attribute] of Object.entries(numbers)) {
    const value = body[field];
    if (typeof value === "number") attributes[attribute] = value;
  }
  const { seed, n, stop, response_format: format, dimensions, encoding_format: encoding } = body;
  if (Number.isSafeInteger(seed)) attributes["gen_ai.request.seed"] = Number(seed);
  if (Number.isSafeInteger(n) && n !== 1) attributes["gen_ai.request.choice.count"] = Number(n);
  const stops = (Array.isArray(stop) ? stop : [stop]).filter((one) => typeof one === "string").slice(0, mostStops);
  if (stops.length > 0) attributes["gen_ai.request.stop_sequences"] = stops.map(shownName);
  if (isRecord(format)) attributes["gen_ai.output.type"] = format.type === "text" ? "text" : "json";
  if (Number.isSafeInteger(dimensions)) attributes["gen_ai.embeddings.dimension.count"] = Number(dimensions);
  if (encoding === "float" || encoding === "base64") attributes["gen_ai.request.encoding_formats"] = [encoding];
  return attributes;
}
