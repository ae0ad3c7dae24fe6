import type { PromptSet, SampleInterval, SamplePrompts } from "@/server/contracts/studio";
import { allocate } from "@/solver/prompts/allocate";
import { sampleInterval } from "@/solver/prompts/sampleInterval";
import { NO_CATEGORY } from "@/solver/prompts/stratumOf";
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
  readonly draw: number;
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
    draw: 1,
    retentionDays: USUAL_RETENTION_DAYS,
  };
}

/** `±3.6 points at 90 %`; `exact` where everything was taken, `not known` where nothing was. */
export function intervalText(interval: SampleInterval | null): string {
  if (interval === null) return "not known";
  const { points, confidence } = interval;
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
  const { name, size, by, draw, retentionDays } = form;
  const isByCategory = by.length === 1 && by[0] === "category" && survey.categories.length > 1;
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
    strata: isByCategory ? strataOf(survey, size, draw) : null,
    note: noteOf(by, survey.withTime),
    blocked,
    request: blocked === null ? { uploadId, name: name.trim(), size, by, draw, retentionDays } : null,
  };
}

/** As the studio will take them: the same shares of the same categories at the same draw. */
function strataOf({ categories, prompts }: PromptUpload["survey"], size: number, draw: number): SamplePicture["strata"] {
  const counts = new Map(categories.map((category) => [category.name, category.prompts]));
  const without = prompts - categories.reduce((sum, category) => sum + category.prompts, 0);
  if (without > 0) counts.set(NO_CATEGORY, (counts.get(NO_CATEGORY) ?? 0) + without);
  return [...allocate(counts, size, draw)].map(([name, sampled]) => {
    const population = counts.get(name) ?? 0;
    return { name, population, sampled, interval: intervalText(sampled === 0 ? null : sampleInterval(sampled, population)) };
  });
}

function noteOf(by: SampleForm["by"], withTime: number): string | null {
  if (by.includes("time") && withTime === 0) return "No prompt has a time: spreading over it changes nothing.";
  if (by.length === 0) return "Kinds are left to chance.";
  return by.includes("length") || by.includes("time")
    ? "How many fall into each band of length or time is counted when the sample is taken; each gets its share, rounded by chance."
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
