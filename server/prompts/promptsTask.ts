import type { Outcome, Prompt, PromptSurvey, SamplePrompts } from "@/server/contracts/studio";
import type { PromptFile } from "./readPrompts";
import type { SampledPrompts } from "./samplePrompts";

/** What a thread that reads prompts is to do. */
export type PromptsTask =
  | { readonly kind: "survey"; readonly file: PromptFile }
  | ({ readonly kind: "sample"; readonly file: PromptFile } & Pick<SamplePrompts, "size" | "by" | "draw" | "ofTraffic">);

/** What it says. After `prompts` it waits for any message. */
export type PromptsReply =
  | { readonly kind: "surveyed"; readonly outcome: Outcome<{ readonly survey: PromptSurvey }> }
  | { readonly kind: "prompts"; readonly prompts: readonly Prompt[] }
  | { readonly kind: "sampled"; readonly outcome: Outcome<{ readonly sampled: SampledPrompts }> };
