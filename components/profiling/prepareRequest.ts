import type { Answerer, Measure, ProfileRequest, PromptSet } from "@/server/contracts/studio";
import { rubricProblem } from "@/solver/judging/judgePrompt";
import { referenceFault, referenceOf } from "../clusters/prepareAttach";
import { formatCount } from "../ui/format";
import { isJudged } from "./measureWords";
import { type EndpointCluster, type ModelSizes, sizeOf } from "./profileEndpoints";
import type { AnswererForm, MeasureForm, ProfileForm } from "./profileForm";
import { splitCommand } from "./splitCommand";

/** Of samples: the distribution that the model was trained for. */
const SAMPLE_TEMPERATURE = 1;

type Result<Done extends object> = Done | { readonly fault: string };

/** A model that answers, in the studio's form, or what is still missing. `who`: its name in a sentence. */
export function answererOf(form: AnswererForm, who: string): Result<{ readonly answerer: Answerer }> {
  const { usdPerMillionInputTokens, usdPerMillionOutputTokens } = form;
  const prices = { usdPerMillionInputTokens, usdPerMillionOutputTokens };
  const model = form.model.trim();
  if (form.clusterId !== null) return { answerer: { model, at: { kind: "cluster", clusterId: form.clusterId }, ...prices } };
  const url = form.url.trim();
  if (!/^https?:\/\/\S+$/.test(url) || !URL.canParse(url))
    return { fault: `Give the address of ${who}, as in https://models.example.com.` };
  if (model === "") return { fault: `Name the model of ${who}.` };
  const fault = referenceFault(form.key);
  if (fault !== null) return { fault: `Key of ${who}: ${fault}` };
  const key = referenceOf(form.key);
  const caFile = form.caFile.trim();
  const servedName = form.servedName.trim();
  return {
    answerer: {
      model,
      at: {
        kind: "url",
        url,
        ...(key === null ? {} : { key }),
        ...(caFile === "" ? {} : { caFile }),
        ...(servedName === "" ? {} : { servedName }),
      },
      ...prices,
    },
  };
}

/** A measure in the studio's form, or the obstacle. `models`: of the candidates, smallest first. */
export function measureRequest(form: MeasureForm, models: readonly string[]): Result<{ readonly measure: Measure }> {
  const { id, kind } = form;
  const name = form.name.trim();
  if (name === "") return { fault: "Give each measure a name." };
  if (kind === "exact") return { measure: { id, name, kind, extract: form.extract } };
  if (kind === "unit-test") {
    const command = [...splitCommand(form.command)];
    if (command.length === 0) return { fault: `Give the command of “${name}”.` };
    return { measure: { id, name, kind, command, timeoutSeconds: form.timeoutSeconds } };
  }
  const asked = answererOf(form.judge, `the judge of “${name}”`);
  if ("fault" in asked) return asked;
  const problem = form.rubric === null ? null : rubricProblem(kind, form.rubric);
  if (problem !== null) return { fault: `“${name}”: ${problem}` };
  const judged = { id, name, judge: asked.answerer, rubric: form.rubric, repeats: form.repeats };
  if (kind !== "pairwise") return { measure: { ...judged, kind } };
  const against = models.includes(form.against) ? form.against : models.at(-1);
  if (against === undefined || models.length < 2) return { fault: `“${name}” compares two models: choose at least two.` };
  return { measure: { ...judged, kind, against, swap: form.swap } };
}

/** The candidates in the studio's form, smallest first. */
function candidates(
  form: Pick<ProfileForm, "elsewhere">,
  chosen: readonly AnswererForm[],
  sizes: ModelSizes,
): Result<{ readonly models: readonly Answerer[] }> {
  const models: Answerer[] = [];
  const all = [
    ...chosen.map((each) => [each, each.model] as const),
    ...form.elsewhere.map((each, at) => [each, `model ${at + 1}`] as const),
  ];
  for (const [each, who] of all) {
    const asked = answererOf(each, who);
    if ("fault" in asked) return asked;
    if (models.some(({ model }) => model === asked.answerer.model))
      return { fault: `${asked.answerer.model} is chosen twice: leave one out.` };
    models.push(asked.answerer);
  }
  if (models.length === 0) return { fault: "Choose at least one model." };
  if (models.length > 12) return { fault: "Choose at most 12 models." };
  return { models: models.sort((a, b) => sizeOf(a.model, sizes) - sizeOf(b.model, sizes)) };
}

/** The request, or the first obstacle. */
export function prepareRequest(
  form: ProfileForm & { readonly chosen: readonly AnswererForm[]; readonly measures: readonly MeasureForm[] },
  set: PromptSet,
  sizes: ModelSizes,
): { readonly request: ProfileRequest | null; readonly blocked: string | null } {
  const blocked = (sentence: string) => ({ request: null, blocked: sentence });
  if (set.deleted) return blocked("The texts of this sample were deleted: take another one.");
  const name = form.name.trim();
  if (name === "") return blocked("Give the profile a name.");
  const found = candidates(form, form.chosen, sizes);
  if ("fault" in found) return blocked(found.fault);
  const { models } = found;
  if (form.measures.length === 0) return blocked("Add at least one measure.");
  const measures: Measure[] = [];
  for (const each of form.measures) {
    const asked = measureRequest(
      each,
      models.map(({ model }) => model),
    );
    if ("fault" in asked) return blocked(asked.fault);
    measures.push(asked.measure);
  }
  const { concurrency, requestsPerMinute, capUsd, maxOutputTokens, keepAnswers, confidence, measure, samples } = form;
  const gates = {
    confidence,
    ...(confidence && measure !== "minimum" ? { measure } : {}),
    samples: samples === 0 ? null : { count: samples, temperature: SAMPLE_TEMPERATURE },
  };
  return {
    request: { name, promptSetId: set.id, models, measures, concurrency, requestsPerMinute, capUsd, maxOutputTokens, keepAnswers, gates },
    blocked: null,
  };
}

/** Notes on a measure before it is run, one sentence each; none of them is an obstacle. */
export function measureNotes(
  form: MeasureForm,
  ground: { readonly set: PromptSet; readonly models: readonly string[]; readonly clusters: readonly EndpointCluster[] },
): readonly string[] {
  const { set, models, clusters } = ground;
  const { kind, judge } = form;
  const notes: string[] = [];
  const lack = (count: number, what: string): string =>
    `${count === 0 ? "No prompt has" : `Only ${formatCount(count)} of ${formatCount(set.prompts)} prompts have`} ${what}: the others get no score, and no workload can use it for them.`;
  if ((kind === "reference" || kind === "exact") && set.withReference < set.prompts)
    notes.push(lack(set.withReference, "a reference answer"));
  if (kind === "unit-test" && set.withTest < set.prompts) notes.push(lack(set.withTest, "a test"));
  if (isJudged(kind) && models.includes(judge.model)) notes.push("A model that judges its own answers favours them.");
  if (!isJudged(kind) && clusters.some(({ emulated, models: at }) => emulated && at.some(({ model }) => models.includes(model))))
    notes.push("Emulated engines write no real answers: it scores all of them as wrong.");
  return notes;
}

/** What starting will do, in one sentence. */
export function startSentence(request: ProfileRequest, prompts: number): string {
  const models = request.models.length === 1 ? "one model" : `${request.models.length} models`;
  const cap = request.capUsd === null ? "" : `, pauses before it could spend more than $${request.capUsd}`;
  const measures = request.measures.length === 1 ? "one measure" : `${request.measures.length} measures`;
  const { count: further } = request.gates.samples ?? { count: 0 };
  const samples = further === 0 ? "" : `, samples ${further === 1 ? "another answer" : `${further} further answers`} to each`;
  return `Asks ${models} ${formatCount(prompts)} prompts each${samples} and has every answer read by ${measures}${cap}; it continues when this page is closed and after a restart of the studio.`;
}
