import { z } from "zod";
import { enteredTitle } from "@/solver/wording/names";
import { captureErasureSchema } from "../gateway/gatewayControls";

/** Formats of prompts: OpenAI batch lines, chat lines, decision records of a gateway, captured traffic, CSV with a column `prompt`. */
const promptForms = ["batch", "chat", "record", "csv"] as const;
export type PromptForm = (typeof promptForms)[number];

/**
 * One prompt in the form of its request: the fields of a chat request that affect the answer, passed on unchanged. The sender sets `model`,
 * `stream` and the fields about delivery.
 */
export interface Prompt {
  readonly id: string;
  /** Empty: the file names none. */
  readonly category: string;
  /** Unix milliseconds; null: not known. */
  readonly atMs: number | null;
  /** `messages` and, if present, `tools`, `tool_choice`, `response_format`, `temperature`, `max_tokens` and similar fields. */
  readonly body: { readonly messages: readonly unknown[] } & Readonly<Record<string, unknown>>;
  /** The right answer; null: not given. */
  readonly reference: string | null;
  /** Test that an answer must pass, as text for the command of a unit-test measure; null: not given. */
  readonly test: string | null;
  /** Whose it was, of a prompt that a gateway had stored. */
  readonly owner?: PromptOwner;
}

/** The gateway's cluster, the name of the key, and the pseudonym under which that gateway knows the user; null: none. */
export interface PromptOwner {
  readonly clusterId: string;
  readonly key: string | null;
  readonly user: string | null;
}

/** A line that was skipped, and why. */
export interface BadLine {
  readonly line: number;
  readonly problem: string;
}

/** The content of a file of prompts, before a sample is taken. */
export interface PromptSurvey {
  readonly form: PromptForm;
  readonly prompts: number;
  /** Skipped lines; the first few are listed. */
  readonly skipped: number;
  readonly badLines: readonly BadLine[];
  /** Largest first; categories beyond the fiftieth are combined as `others`. */
  readonly categories: readonly { readonly name: string; readonly prompts: number }[];
  readonly meanCharacters: number;
  readonly withTime: number;
  readonly withReference: number;
  readonly withTest: number;
  readonly multiTurn: number;
  readonly withTools: number;
  /** Records with an incomplete prompt: they are excluded, and counted among the skipped. */
  readonly cutPrompts: number;
}

const stratifiers = ["category", "length", "time"] as const;

/** The request for a sample of an uploaded file of any length. */
export const samplePromptsSchema = z.object({
  uploadId: z.uuid(),
  name: enteredTitle,
  size: z.int().min(2, "take at least 2 prompts").max(20_000, "take at most 20,000 prompts"),
  by: z.array(z.enum(stratifiers)).readonly(),
  /** The same number takes the same prompts of the same file; another number draws again from all of them. */
  draw: z.int().min(1, "count draws from 1").max(1_000_000, "give a draw of at most 1,000,000").default(1),
  /** Whether the file is itself a part of the traffic, such as captured prompts: then even the whole file is only an estimate of it. */
  ofTraffic: z.boolean().optional(),
  /** Prompts and stored answers are deleted after this many days; null: only by a user. */
  retentionDays: z.int().min(1).max(3650).nullable(),
});
export type SamplePrompts = z.infer<typeof samplePromptsSchema>;

/**
 * How well a sample represents the whole: the largest distance of the plain mean of a right-or-wrong quality, 0..100, from that of all
 * prompts. Errors of the judge come in addition.
 */
export interface SampleInterval {
  readonly confidence: number;
  /** Half-width, in points of quality. */
  readonly points: number;
}

/** A sample of prompts stored in the studio. */
export interface PromptSet
  extends Pick<PromptSurvey, "prompts" | "skipped" | "meanCharacters" | "withReference" | "withTest" | "multiTurn" | "withTools"> {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly actor: string;
  /** Their origin, in words. */
  readonly from: string;
  readonly population: number;
  readonly strata: readonly {
    readonly name: string;
    readonly population: number;
    /** Its number in the sample, rounded up or down at random: 0 is possible for a small one. */
    readonly sampled: number;
    /** null: none was sampled. */
    readonly interval: SampleInterval | null;
  }[];
  readonly interval: SampleInterval;
  /** null: stored until deleted. */
  readonly expiresAt: string | null;
  /** Whether the texts are deleted, by retention or by a user: measurements made with them stay. */
  readonly deleted: boolean;
}

/** The request to delete an upload that needs no sample. */
export const archiveSchema = z.object({ uploadId: z.uuid() });

/**
 * The request to take prompts from a gateway: captured ones, or its decision records if those contain prompts. The result is an upload like
 * any other.
 */
export const promptsOfGatewaySchema = z.object({
  clusterId: z.string().min(1),
  from: z.enum(["captured", "records"]),
});
export type PromptsOfGateway = z.infer<typeof promptsOfGatewaySchema>;

/** The request to delete what is captured of one key or of one user, at the gateway and in samples taken from it. */
export const eraseCapturedSchema = z.object({
  clusterId: z.string().min(1),
  ...captureErasureSchema.omit({ by: true }).shape,
});
export type EraseCaptured = z.infer<typeof eraseCapturedSchema>;

/** What was deleted. */
export interface ErasedCaptured {
  /** Prompts at the gateway. */
  readonly prompts: number;
  /** Names of samples whose texts were deleted. */
  readonly samples: readonly string[];
  /** Names of samples that a running profile or batch still asks: their texts stay until they are deleted by hand. */
  readonly inUse: readonly string[];
}
