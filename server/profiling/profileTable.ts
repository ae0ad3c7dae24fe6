import type { Outcome, ProfileRequest, Prompt } from "@/server/contracts/studio";
import type { StoredAnswer, StoredProfile, StoredReading } from "@/server/store/profileRepository";
import type { ModelCard } from "@/solver/hardware/modelCard";
import { mean } from "@/solver/numeric/quantile";
import type { LabelledTable } from "@/solver/workload/applyJudge";
import { collectedTable } from "@/solver/workload/collectedTable";
import { SAMPLES_ID } from "./gateReadings";
import type { MeasureReadings } from "./measures/reading";
import type { PeerReading } from "./peerAgreement";
import { judgeOf } from "./profileShape";
import { type AnswerColumns, wholeGateColumns } from "./wholeGateColumns";

export interface TableParts {
  readonly profile: StoredProfile;
  readonly promptSetName: string;
  readonly prompts: number;
  /** null: its text was deleted. */
  readonly promptOf: (position: number) => Pick<Prompt, "id" | "category"> | null;
  /** In order of prompts, as are readings of a measure, all of one answer together. */
  readonly answers: Iterable<StoredAnswer>;
  readonly readingsOf: (measureId: string) => Iterable<StoredReading>;
  readonly countedScore: MeasureReadings["countedScore"];
  readonly gate: string;
  readonly label: string;
  readonly models: Readonly<Record<string, ModelCard>>;
  /** Whether the engines that answered were emulated. */
  readonly emulated: boolean;
  /** A model whose answers those of the others are compared with, in place of samples; null: none. */
  readonly peer: { readonly model: string; readonly readings: Iterable<PeerReading> } | null;
}

export type ProfileTable = Outcome<{ readonly table: LabelledTable; readonly origin: string; readonly leftOut: number }>;

/** Why two measures cannot be gate and label, in a sentence with the ways out; null: they can. */
export function measuresProblem({ measures }: ProfileRequest, gateId: string, labelId: string): string | null {
  const [gate, label] = [gateId, labelId].map((id) => measures.find((measure) => measure.id === id));
  if (gate === undefined || label === undefined) return `This profile has no measure "${gate === undefined ? gateId : labelId}".`;
  const waysOut = "Profile with a second judge, with reference answers or with unit tests, and take that as the label";
  if (gateId === labelId)
    return `"${gate.name}" cannot be both: a gate that sees the label itself never errs, and every saving would be a mirage. ${waysOut}.`;
  if (gate.kind !== "rubric" && gate.kind !== "reference")
    return `"${gate.name}" cannot be the gate: while serving a gate sees the score that a judge gives an answer. Choose one with a rubric.`;
  const [one, other] = [judgeOf(gate), judgeOf(label)].map((judge) => JSON.stringify([judge?.model, judge?.at]));
  const isSame = gate.kind === label.kind && one === other && "rubric" in label && gate.rubric === label.rubric;
  return isSame ? `"${gate.name}" and "${label.name}" are the same judge with the same words. ${waysOut}.` : null;
}

/** Columns that a prompt needs of every model, in the order in which a job fills them, and what lacks where one is empty. */
const needed = [
  ["outputTokens", "answer"],
  ["judged", "gate"],
  ["label", "label"],
] as const;

/** Joins answers and readings of a job into an outcome table: prompts that every model answered and both measures scored. */
export function profileTable(parts: TableParts): ProfileTable {
  const { profile, prompts, answers, gate, label } = parts;
  const { request } = profile;
  const problem = measuresProblem(request, gate, label);
  if (problem !== null) return { ok: false, message: problem };
  const column = () => new Array<number>(prompts).fill(Number.NaN);
  const byModel = new Map<string, AnswerColumns>(
    request.models.map(({ model }, sizeRank) => [
      model,
      { sizeRank, outputTokens: column(), label: column(), judged: column(), confidence: column(), agreement: column() },
    ]),
  );
  for (const [id, name] of [[gate, "judged"] as const, [label, "label"] as const])
    for (const { model, position, score } of scoresOf(parts, id)) fill(byModel.get(model)?.[name], position, score);
  for (const { model, position, score } of agreementOf(parts)) fill(byModel.get(model)?.agreement, position, score);
  const inputTokens = new Array<number>(prompts).fill(0);
  const noted = { uncounted: 0, cut: 0 };
  for (const answer of answers) {
    const { position, model } = answer;
    fill(byModel.get(model)?.outputTokens, position, answer.outputTokens ?? 0);
    inputTokens[position] = Math.max(inputTokens[position] ?? 0, answer.inputTokens ?? 0);
    fill(byModel.get(model)?.confidence, position, answer.confidence);
    if (answer.inputTokens === null) noted.uncounted += 1;
    if (answer.cut === 1) noted.cut += 1;
  }
  // Until a job is over, samples may not be taken yet: those prompts are left out. In one that is over they failed: the column is left out.
  const sampled = new Set(
    [...byModel.values()].filter(({ agreement }) => profile.state !== "done" && agreement.some((share) => !Number.isNaN(share))),
  );
  const awaitsSamples = (columns: AnswerColumns, position: number): boolean =>
    sampled.has(columns) && Number.isNaN(columns.agreement[position]);
  const missing = { answer: new Set<number>(), gate: new Set<number>(), label: new Set<number>(), sample: new Set<number>() };
  for (let position = 0; position < prompts; position += 1) {
    for (const columns of byModel.values()) {
      const lacks =
        needed.find(([name]) => Number.isNaN(columns[name][position]))?.[1] ?? (awaitsSamples(columns, position) ? "sample" : null);
      if (lacks === null) continue;
      missing[lacks].add(position);
      for (const [name] of needed) columns[name][position] = Number.NaN;
    }
  }
  const named = Array.from({ length: prompts }, (_, position) => parts.promptOf(position));
  const rows = replayableIds(named.map((prompt) => prompt?.id ?? "")).map((id, position) => ({
    id,
    category: named[position]?.category ?? "",
    inputTokens: inputTokens[position] ?? 0,
  }));
  const unknown = request.models.find(({ model }) => !Object.hasOwn(parts.models, model));
  if (unknown !== undefined)
    return { ok: false, message: `There is no model card "${unknown.model}": add one on the page of models, then make the workload.` };
  const places = [...rows.keys()].filter((position) => !Object.values(missing).some((positions) => positions.has(position)));
  const { answersOf, incomplete } = wholeGateColumns(byModel, places);
  const collected = collectedTable(rows, answersOf, { aliases: {}, models: parts.models });
  if (!collected.ok) return { ok: false, message: tooFew(prompts, missing) ?? `${collected.problem}.` };
  const { table, droppedPrompts, thinnedPrompts, promptLengths } = collected.value;
  const leftOut = droppedPrompts + thinnedPrompts;
  return {
    ok: true,
    table,
    leftOut,
    origin: originOf(parts, { ...noted, incomplete, leftOut, missing, promptLengths, nameless: named.every((one) => one === null) }),
  };
}

function fill(column: number[] | undefined, position: number, value: number | null): void {
  if (column !== undefined && value !== null) column[position] = value;
}

interface ReadAnswer {
  readonly position: number;
  readonly model: string;
  readonly scores: (number | null)[];
}

/** All scores of each answer that a measure read, or that was sampled again. */
function* readAnswers({ readingsOf }: TableParts, measureId: string): Generator<ReadAnswer> {
  let last = null as ReadAnswer | null;
  for (const { position, model, reading, score } of readingsOf(measureId)) {
    if (last?.position !== position || last.model !== model) {
      if (last !== null) yield last;
      last = { position, model, scores: [] };
    }
    last.scores[reading] = score;
  }
  if (last !== null) yield last;
}

/** The score that counts of each answer that a measure read. */
function* scoresOf(parts: TableParts, measureId: string) {
  const measure = parts.profile.request.measures.find(({ id }) => id === measureId);
  if (measure === undefined) return;
  for (const read of readAnswers(parts, measureId)) yield { ...read, score: parts.countedScore(measure, read.scores) };
}

/** How far each answer agrees with the peer's, or with further samples of its model. */
function* agreementOf(parts: TableParts): Generator<{ readonly position: number; readonly model: string; readonly score: number | null }> {
  if (parts.peer !== null) yield* parts.peer.readings;
  else for (const { position, model, scores } of readAnswers(parts, SAMPLES_ID)) yield { position, model, score: meanOf(scores) };
}

/** The mean of those scores that are known. */
function meanOf(scores: readonly (number | null)[]): number | null {
  const known = scores.filter((score) => typeof score === "number");
  return known.length === 0 ? null : mean(known);
}

interface Missing {
  readonly answer: ReadonlySet<number>;
  readonly gate: ReadonlySet<number>;
  readonly label: ReadonlySet<number>;
  readonly sample: ReadonlySet<number>;
}

/** Prompts by the first thing that is missing of them. */
function reasonsOf({ answer, gate, label, sample }: Missing): readonly string[] {
  const unscored = new Set([...gate].filter((position) => !answer.has(position)));
  const unlabelled = new Set([...label].filter((position) => !answer.has(position) && !unscored.has(position)));
  const unsampled = [...sample].filter((position) => !answer.has(position) && !gate.has(position) && !label.has(position)).length;
  return [
    ...(answer.size > 0 ? [`${answer.size} without an answer of every model`] : []),
    ...(unscored.size > 0 ? [`${unscored.size} without a score for the gate`] : []),
    ...(unlabelled.size > 0 ? [`${unlabelled.size} without a label`] : []),
    ...(unsampled > 0 ? [`${unsampled} without a sample of every model`] : []),
  ];
}

function tooFew(prompts: number, missing: Missing): string | null {
  const { answer, gate, label, sample } = missing;
  const whole = prompts - new Set([...answer, ...gate, ...label, ...sample]).size;
  if (whole >= 2) return null;
  const found = whole === 0 ? "No prompt is" : "Only one prompt is";
  return `${found} whole: ${reasonsOf(missing).join(", ")}. Let the job go on, or choose measures that score more of the answers.`;
}

interface Noted {
  readonly leftOut: number;
  readonly missing: Missing;
  readonly promptLengths: string;
  /** Answers without a reported token count, and those cut at their token limit. */
  readonly uncounted: number;
  readonly cut: number;
  /** Gate columns that some answers lack. */
  readonly incomplete: readonly string[];
  /** Whether ids and categories are gone. */
  readonly nameless: boolean;
}

function originOf({ profile: { request }, promptSetName, prompts, gate, label, emulated, peer }: TableParts, noted: Noted): string {
  const { leftOut, missing, promptLengths, uncounted, cut, incomplete, nameless } = noted;
  const names = request.models.map(({ model }) => model).join(", ");
  const told = (id: string): string => {
    const measure = request.measures.find((one) => one.id === id);
    const judge = measure && judgeOf(measure);
    return `${measure?.name ?? id} (${measure?.kind}${judge ? ` by ${judge.model}` : ""})`;
  };
  return [
    `profile "${request.name}": ${prompts} prompts of "${promptSetName}" answered by ${emulated ? "emulated engines of " : ""}${names}`,
    `judged score by ${told(gate)}`,
    `label by ${told(label)}`,
    ...(peer === null ? [] : [`agreement with the answers of ${peer.model}`]),
    ...(leftOut > 0 ? [`${leftOut} left out: ${reasonsOf(missing).join(", ")}`] : []),
    ...(cut > 0 ? [`${cut} answers ended at their limit of tokens`] : []),
    ...incomplete,
    ...(nameless ? ["ids and categories of the prompts were deleted with their texts"] : []),
    ...(uncounted > 0 ? [`tokens of ${uncounted} answers were counted by the studio, for the address gave no usage`] : []),
    ...(promptLengths === "estimated" ? ["prompt lengths partly estimated"] : []),
  ].join("; ");
}

/** Ids that are valid in brackets, unique and not empty. */
export function replayableIds(ids: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return ids.map((id, position) => {
    const plain = id.replace(/[[\]\r\n]/g, "_").trim() || `prompt-${position + 1}`;
    let free = plain;
    for (let count = 2; taken.has(free); count += 1) free = `${plain}-${count}`;
    taken.add(free);
    return free;
  });
}
