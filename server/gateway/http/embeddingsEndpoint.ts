import type { Endpoint } from "./endpoint";

/** `/v1/embeddings`. */
export const embeddingsEndpoint: Endpoint = {
  path: "/v1/embeddings",
  operation: "embeddings",
  answersIn: "data",
  refusal: ({ input }) =>
    typeof input === "string" || (Array.isArray(input) && input.length > 0)
      ? null
      : { message: "`input` must be a text, or a list of texts or tokens.", param: "input" },
  text: null,
};
