import { z } from "zod";

/** Forms in which prompts come: OpenAI batch lines, chat lines, decision records of a gateway, captured traffic, CSV with a column `prompt`. */
const promptForms = ["batch", "chat", "record", "csv"] as const;
export type PromptForm = (typeof promptForms)[number];

/**
 * One prompt as it is asked: the fields of a chat request that decide over the answer, passed on as they came. `model`, `stream` and
 * what is about delivery are set by whoever asks.
 */
export interface Prompt {
  readonly id: string;
  /** Empty: the file names none. */
  readonly category: string;
  /** Unix milliseconds; null: not known. */
  readonly atMs: number | null;
  /** `messages` and, where they came, `tools`, `tool_choice`, `response_format`, `temperature`, `max_tokens` and the like. */
  readonly body: { readonly messages: readonly unknown[] } & Readonly<Record<string, unknown>>;
  /** What a right answer is; null: not given. */
  readonly reference: string | null;
  /** Test that an answer must pass, as text for the command of a unit-test measure; null: not given. */
  readonly test: string | null;
}

/** A line that was skipped, and why. */
export interface BadLine {
  readonly line: number;
  readonly problem: string;
}

/** What a file of prompts holds, before anything is taken from it. */
export interface PromptSurvey {
  readonly form: PromptForm;
  readonly prompts: number;
  /** Lines left out; the first few of them are told. */
  readonly skipped: number;
  readonly badLines: readonly BadLine[];
  /** Largest first; what is beyond the fiftieth is `others`. */
  readonly categories: readonly { readonly name: string; readonly prompts: number }[];
  readonly meanCharacters: number;
  readonly withTime: number;
  readonly withReference: number;
  readonly withTest: number;
  readonly multiTurn: number;
  readonly withTools: number;
  /** Records whose prompt was kept only in part: they are left out, and counted among the skipped. */
  readonly cutPrompts: number;
}

const stratifiers = ["category", "length", "time"] as const;

/** To take a sample of an uploaded file, a million lines long or ten. */
export const samplePromptsSchema = z.object({
  uploadId: z.uuid(),
  name: z.string().trim().min(1, "give it a name").max(80, "give a name of at most 80 characters"),
  size: z.int().min(2, "take at least 2 prompts").max(20_000, "take at most 20,000 prompts"),
  by: z.array(z.enum(stratifiers)).readonly(),
  /** The same number takes the same prompts of the same file; another one draws anew, of all of them. */
  draw: z.int().min(1, "count draws from 1").max(1_000_000, "give a draw of at most 1,000,000").default(1),
  /** Whether the file is itself a part of the traffic that is to be known, as what was captured of it is: all of it tells that not exactly. */
  ofTraffic: z.boolean().optional(),
  /** Prompts and kept answers are deleted after so many days; null: when somebody deletes them. */
  retentionDays: z.int().min(1).max(3650).nullable(),
});
export type SamplePrompts = z.infer<typeof samplePromptsSchema>;

/**
 * What a sample says of the whole: how far the plain mean of a 0..100 quality that is only right or wrong may lie from that of all prompts,
 * at worst. Errors of whoever judges come on top.
 */
export interface SampleInterval {
  readonly confidence: number;
  /** Half-width, in points of quality. */
  readonly points: number;
}

/** A sample of prompts that the studio keeps. */
export interface PromptSet
  extends Pick<PromptSurvey, "prompts" | "skipped" | "meanCharacters" | "withReference" | "withTest" | "multiTurn" | "withTools"> {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly actor: string;
  /** Where they came from, in words. */
  readonly from: string;
  readonly population: number;
  readonly strata: readonly {
    readonly name: string;
    readonly population: number;
    /** Its share of the sample, rounded down or up by chance: 0 may be all that a small one is due. */
    readonly sampled: number;
    /** null: none was sampled. */
    readonly interval: SampleInterval | null;
  }[];
  readonly interval: SampleInterval;
  /** null: kept until deleted. */
  readonly expiresAt: string | null;
  /** Whether the texts are gone, by retention or by hand: what was measured with them stays. */
  readonly deleted: boolean;
}

/** To delete an upload of which no sample is wanted. */
export const archiveSchema = z.object({ uploadId: z.uuid() });

/** To take prompts from a gateway: what it captured, or its decision records where those keep prompts. Becomes an upload like any other. */
export const promptsOfGatewaySchema = z.object({
  clusterId: z.string().min(1),
  from: z.enum(["captured", "records"]),
});
export type PromptsOfGateway = z.infer<typeof promptsOfGatewaySchema>;
