import type { Outcome, PromptSurvey, SamplePrompts } from "@/server/contracts/studio";
import type { PromptFile } from "./readPrompts";
import type { SampledPrompts } from "./samplePrompts";

/** What a thread that reads prompts is to do. */
export interface SurveyTask {
  readonly kind: "survey";
  readonly file: PromptFile;
}

export interface SampleTask extends Pick<SamplePrompts, "size" | "by" | "draw" | "ofTraffic"> {
  readonly kind: "sample";
  readonly file: PromptFile;
}

export type SurveyAnswer = Outcome<{ readonly survey: PromptSurvey }>;
export type SampleAnswer = Outcome<{ readonly sampled: SampledPrompts }>;
