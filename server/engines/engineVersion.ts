import { z } from "zod";

/**
 * Paths of engines' versions, in the order of the requests: vLLM and trtllm-serve; SGLang (the second name in older releases); TGI;
 * llama.cpp; Triton; Ollama. None of them exports it in its metrics: the `Version` that Ray writes is Ray's.
 */
export const versionPaths = ["/version", "/server_info", "/get_server_info", "/info", "/props", "/v2", "/api/version"] as const;

const answerSchema = z.union([
  z.object({ version: z.string() }).transform(({ version }) => version),
  // Build number 0: llama.cpp was built from sources without their history.
  z.object({ build_info: z.string() }).transform(({ build_info }) => (build_info.startsWith("b0-") ? null : build_info)),
]);

/** The version in an answer to one of them; null if there is none. */
export function engineVersion(text: string): string | null {
  try {
    return answerSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
