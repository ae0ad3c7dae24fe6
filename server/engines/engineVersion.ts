import { z } from "zod";

/**
 * Paths of engines' versions, in the order of the requests: vLLM and trtllm-serve; SGLang (the second name in older releases); TGI;
 * llama.cpp; Triton. None of them exports it in its metrics: the `Version` that Ray writes is Ray's.
 */
export const versionPaths = ["/version", "/server_info", "/get_server_info", "/info", "/props", "/v2"] as const;

const answerSchema = z.union([
  z.object({ version: z.string() }).transform(({ version }) => version),
  z.object({ build_info: z.string() }).transform(({ build_info }) => build_info),
]);

/** The version in an answer to one of them; null if there is none. */
export function engineVersion(text: string): string | null {
  try {
    return answerSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
