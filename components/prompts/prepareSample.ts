import type { PromptSet, SampleInterval, SamplePrompts } from "@/server/contracts/studio";
import { allocate } from "@/solver/prompts/allocate";
import { sampleInterval } from "@/solver/prompts/sampleInterval";
import { formatCount, formatDate, formatPercent } from "../ui/format";
import type { PromptUpload } from "./uploadPrompts";

export const MIN_SAMPLE = 2;
export const MAX_SAMPLE = 20_000;

/** Enough to tell models some 4 points apart, and few enough to be run within an hour or so. */
const USUAL_SAMPLE = 500;

const USUAL_RETENTION_DAYS = 90;

/** What is asked of a sample, as far as it is filled in. */
export interface SampleForm {
  readonly name: string;
  readonly size: number;
  readonly by: readonly SamplePrompts["by"][number][];
  /** null: until somebody deletes them. */
  readonly retentionDays: number | null;
}

export const mostOf = ({ survey }: PromptUpload): number => Math.min(MAX_SAMPLE, survey.prompts);

/** A first sample: named after where it comes from, spread over what is known of the prompts. */
export function startingSample(upload: PromptUpload): SampleForm {
  const { survey, from } = upload;
  return {
    name: from.replace(/\.[^.]*$/, "").slice(0, 80) || "prompts",
    size: Math.min(USUAL_SAMPLE, mostOf(upload)),
    by: [...(survey.categories.length > 1 ? (["category"] as const) : []), "length"],
    retentionDays: USUAL_RETENTION_DAYS,
  };
}

/** `±3.6 points at 90 %`; `exact` where everything was taken. */
export function intervalText({ points, confidence }: SampleInterval): string {
  return points < 0.05 ? "exact" : `±${points.toFixed(1)} points at ${formatPercent(confidence)}`;
}

export interface SamplePicture {
  /** What the size buys. */
  readonly interval: string;
  /** By category, where it is spread over categories and nothing else that is not known before the file is read again. */
  readonly strata:
    | readonly { readonly name: string; readonly population: number; readonly sampled: number; readonly interval: string }[]
    | null;
  /** Why there is no table of strata, or what else is to be said. */
  readonly note: string | null;
  readonly request: SamplePrompts | null;
  readonly blocked: string | null;
}

/** What a sample as it stands would be. */
export function prepareSample(upload: PromptUpload, form: SampleForm): SamplePicture {
  const { survey, uploadId } = upload;
  const { name, size, by, retentionDays } = form;
  const isByCategory = by.length === 1 && by[0] === "category" && survey.categories.length > 1;
  const sizes = isByCategory
    ? allocate(
        survey.categories.map(({ prompts }) => prompts),
        size,
      )
    : null;
  const blocked =
    name.trim() === ""
      ? "Give the sample a name."
      : survey.prompts < MIN_SAMPLE
        ? "There is only one prompt: a sample takes at least two."
        : size > survey.prompts
          ? `There are only ${formatCount(survey.prompts)} prompts.`
          : null;
  return {
    interval: intervalText(sampleInterval(size, survey.prompts)),
    strata:
      sizes === null
        ? null
        : survey.categories.map(({ name: category, prompts }, index) => ({
            name: category || "without a category",
            population: prompts,
            sampled: sizes[index] ?? 0,
            interval: (sizes[index] ?? 0) === 0 ? "none is taken" : intervalText(sampleInterval(sizes[index] ?? 0, prompts)),
          })),
    note: noteOf(by, survey.withTime),
    blocked,
    request: blocked === null ? { uploadId, name: name.trim(), size, by, retentionDays } : null,
  };
}

function noteOf(by: SampleForm["by"], withTime: number): string | null {
  if (by.includes("time") && withTime === 0) return "No prompt has a time: spreading over it changes nothing.";
  if (by.length === 0) return "Every prompt has the same chance, whatever its kind.";
  return by.includes("length") || by.includes("time")
    ? "How many fall into each band of length or time is counted when the sample is taken; each band gets its share."
    : null;
}

export const stratifiers = ["category", "length", "time"] as const satisfies readonly SamplePrompts["by"][number][];
export const stratifierWords = { category: "category", length: "length", time: "hour of the day" } as const;

/** What of a sample can be measured beside a judge's opinion, and what is special about its prompts. */
export function holdings(set: Pick<PromptSet, "withReference" | "withTest" | "multiTurn" | "withTools">): string {
  const parts = [
    [set.withReference, "with a reference"],
    [set.withTest, "with a test"],
    [set.multiTurn, "of several turns"],
    [set.withTools, "with tools"],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, what]) => `${formatCount(count)} ${what}`);
  return said.join(", ") || "prompts only";
}

/** Until when texts are kept, after "kept ": `until 2026-03-01 14:05`; `deleted` where they are gone. */
export function retentionText({ deleted, expiresAt }: Pick<PromptSet, "deleted" | "expiresAt">): string {
  if (deleted) return "deleted";
  return expiresAt === null ? "until deleted" : `until ${formatDate(expiresAt)}`;
}
