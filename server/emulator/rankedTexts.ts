import { randomUUID } from "node:crypto";
import type { ApiError } from "@/server/contracts/http/apiServer";
import { mixSeed } from "@/solver/numeric/random";
import type { Body } from "./generationFields";
import { type FieldIssue, fieldError } from "./pydanticError";

/** What an answer says beside the emulated scores. */
interface Ranking {
  readonly model: string;
  readonly createdSeconds: number;
}

type Ranked = { readonly ok: true; readonly answer: object } | { readonly ok: false; readonly error: ApiError };

/** Characters of a token, as no tokenizer is there. */
const TOKEN_CHARACTERS = 4;

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));

/**
 * Made-up relevance, 0 to 1, the same every time: nine tenths of it the share of the query's words that the document has, the rest from a hash
 * of both, so that no two documents are alike.
 */
function relevance(query: string, document: string): number {
  const asked = wordsOf(query);
  const has = wordsOf(document);
  const shared = [...asked].filter((word) => has.has(word)).length / Math.max(1, asked.size);
  return 0.9 * shared + (0.1 * (mixSeed("relevance", query, document) % 10_000)) / 10_000;
}

function usageOf(texts: readonly string[]): object {
  const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / TOKEN_CHARACTERS), 0);
  return { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0, prompt_tokens_details: null };
}

/** Answers a body of `/v1/rerank` as vLLM does: the documents by falling relevance, `top_n` of them, or all for 0. */
export function rerank(body: Body, { model }: Ranking): Ranked {
  const { query, documents, top_n: most = 0 } = body;
  const issues: FieldIssue[] = [];
  if (typeof query !== "string") issues.push(missing("query", query));
  if (!isTexts(documents)) issues.push(missing("documents", documents));
  if (!Number.isInteger(most))
    issues.push({ type: "int_type", loc: ["body", "top_n"], msg: "Input should be a valid integer", input: most });
  if (typeof query !== "string" || !isTexts(documents) || issues.length > 0) return { ok: false, error: fieldError(issues) };
  const results = documents
    .map((text, index) => ({ index, document: { text, multi_modal: null }, relevance_score: relevance(query, text) }))
    .sort((one, other) => other.relevance_score - one.relevance_score);
  const usage = usageOf(documents.map((text) => query + text));
  return {
    ok: true,
    answer: { id: `rerank-${randomUUID()}`, model, usage, results: Number(most) > 0 ? results.slice(0, Number(most)) : results },
  };
}

/** Answers a body of `/v1/score` as vLLM does: one text with each of many, or pair by pair. */
export function score(body: Body, { model, createdSeconds }: Ranking): Ranked {
  const [one, other] = [textsOf(body.text_1), textsOf(body.text_2)];
  if (one === null || other === null) {
    const issues = [one === null ? [missing("text_1", body.text_1)] : [], other === null ? [missing("text_2", body.text_2)] : []].flat();
    return { ok: false, error: fieldError(issues) };
  }
  if (one.length !== 1 && one.length !== other.length)
    return { ok: false, error: { status: 400, type: "BadRequestError", message: "Input lengths must be either 1:1, 1:N or N:N" } };
  const pairs = other.map((text, at) => [one.length === 1 ? (one[0] ?? "") : (one[at] ?? ""), text] as const);
  const data = pairs.map(([left, right], index) => ({ index, object: "score", score: relevance(left, right) }));
  const usage = usageOf(pairs.map(([left, right]) => left + right));
  return { ok: true, answer: { id: `score-${randomUUID()}`, object: "list", created: createdSeconds, model, data, usage } };
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === "string");

function textsOf(value: unknown): readonly string[] | null {
  if (typeof value === "string") return [value];
  return isTexts(value) ? value : null;
}

const missing = (name: string, input: unknown): FieldIssue =>
  input === undefined
    ? { type: "missing", loc: ["body", name], msg: "Field required", input: {} }
    : { type: "string_type", loc: ["body", name], msg: "Input should be a valid string", input };
