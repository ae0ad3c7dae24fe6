import { isRecord } from "@/solver/collections/isRecord";
import type { BodyRefusal, Endpoint, Json } from "./endpoint";

/** A text, a list that is not empty, or content of several parts, as vLLM takes all of these. */
const isContent = (value: unknown): boolean => typeof value === "string" || isRecord(value) || (Array.isArray(value) && value.length > 0);

/** The names that vLLM has for the two sides of scored pairs, the oldest first. */
const sides = [
  ["text_1", "text_2"],
  ["data_1", "data_2"],
  ["queries", "documents"],
  ["queries", "items"],
] as const;

function rerankRefusal({ query, documents }: Json): BodyRefusal | null {
  if (typeof query !== "string" && !isRecord(query)) return { message: "`query` must be a text.", param: "query" };
  return isContent(documents) && typeof documents !== "string"
    ? null
    : { message: "`documents` must be a list of texts.", param: "documents" };
}

const scoreRefusal = (body: Json): BodyRefusal | null =>
  sides.some((names) => names.every((name) => isContent(body[name])))
    ? null
    : { message: "`text_1` and `text_2` must each be a text or a list of texts.", param: "text_1" };

/** `/v1/rerank` of vLLM, with the fields of Jina's and Cohere's APIs: documents by their relevance to a query. */
export const rerankEndpoint: Endpoint = {
  path: "/v1/rerank",
  enginePath: "/v1/rerank",
  operation: "rerank",
  answersIn: "results",
  refusal: rerankRefusal,
  text: null,
};

/** `/v1/score` of vLLM: how alike, or how relevant to one another, the texts of pairs are. */
export const scoreEndpoint: Endpoint = {
  path: "/v1/score",
  enginePath: "/v1/score",
  operation: "score",
  answersIn: "data",
  refusal: scoreRefusal,
  text: null,
};
