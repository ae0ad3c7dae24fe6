import { z } from "zod";
import { type EngineKind, type KernelProfile, kernelProfileSchema } from "./engineProfile";
import table from "./tables/engineProfiles.json" with { type: "json" };

const profiles = z.array(kernelProfileSchema).parse(table);

function profileOf(id: string): KernelProfile {
  const profile = profiles.find((each) => each.id === id);
  if (profile === undefined) throw new Error(`tables/engineProfiles.json has no profile "${id}"`);
  return profile;
}

/**
 * Kernels with their tables' efficiencies and rough host terms: the start from which `fitProfile` made the built-in profiles (`weir
 * calibrate --efficiencies`; SGLang and TensorRT-LLM start from vLLM's).
 */
export const unfittedProfile: KernelProfile = profileOf("unfitted");

export const vllmProfile: KernelProfile = profileOf("vllm");

/**
 * One run, with an error factor of 28, was excluded. The Llama runs decode faster than the Qwen runs explain, and TTFT follows another
 * schedule than vLLM's: hence the large errors.
 */
export const trtllmProfile: KernelProfile = profileOf("trtllm");

/**
 * Host and link terms fitted to TPOT (`weir calibrate --tpot-only`); kernels and request times are those fitted for vLLM without a front
 * end. TTFT of these runs is not matched: with hundreds of streams in flight it is two to ten times what engine steps explain, so its error
 * is that of an unfitted prediction.
 */
const sglangProfile: KernelProfile = profileOf("sglang");

/** The profile of each engine that Weir includes. Their errors are on runs the fit had not seen, over five folds by shape and lengths. */
export const engineProfiles: Readonly<Record<EngineKind, KernelProfile>> = {
  vllm: vllmProfile,
  sglang: sglangProfile,
  trtllm: trtllmProfile,
};
