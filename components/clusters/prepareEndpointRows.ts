import type { EndpointDraft, Finding, GuessedField, TriedEndpoint } from "@/server/contracts/studio";
import { atPrecision, type Precision } from "@/solver/hardware/modelCard";
import { usualShape } from "@/solver/hardware/replicaShapes";
import type { Outputs } from "../api/trpc";
import type { Tone } from "../ui/Badge";
import type { EndpointAttempt } from "./endpointAttempt";

export type Cards = Pick<Outputs["cards"]["list"], "models" | "gpus">;

/** An operator's entries for an endpoint; omitted values stay as they were found or guessed. */
export type EndpointEdits = Partial<Pick<EndpointDraft, "model" | "gpu" | "tp" | "pp" | "precision" | "limits">>;

export interface EndpointRow {
  readonly url: string;
  readonly name: string;
  readonly word: string;
  readonly tone: Tone;
  readonly trying: boolean;
  /** Problems, worst first. */
  readonly faults: readonly Finding[];
  /** What was found, in one line; empty where nothing was. */
  readonly fine: string;
  /** The endpoint to attach; null: it cannot be attached yet. */
  readonly draft: EndpointDraft | null;
  /** Adapters of its model, by their names there: attached with it, as models of their own on its GPUs. */
  readonly adapters: readonly string[];
  /** Why each unconfirmed value was chosen. */
  readonly why: Partial<Readonly<Record<GuessedField, string>>>;
  /** Entries that are required first. */
  readonly questions: readonly string[];
  /** Names it lists, where there are several to choose from or none of them has a card. */
  readonly served: readonly string[];
  /** Whether it is attached. */
  readonly taken: boolean;
}

/** GPUs of one server at most, where the shape has to be guessed. */
const usualNode = { gpusPerNode: 8, maxGpus: 8 };

const levels = { failed: 0, warn: 1, ok: 2 } as const;

/** Pasted endpoints for display: the findings about each, what would be attached, and the obstacles. */
export function prepareEndpointRows(
  attempt: EndpointAttempt,
  edits: Readonly<Record<string, EndpointEdits>>,
  cards: Cards | undefined,
): readonly EndpointRow[] {
  return attempt.endpoints.map(({ url, name }) => {
    const trying = attempt.waiting.includes(url);
    const tried = attempt.tried[url];
    if (tried === undefined) {
      const nothing = { faults: [], fine: "", draft: null, adapters: [], why: {}, questions: [], served: [], taken: false };
      return { url, name, word: trying ? "trying" : "not tried", tone: "neutral", trying, ...nothing };
    }
    const faults = tried.findings.filter(({ level }) => level !== "ok").sort((a, b) => levels[a.level] - levels[b.level]);
    const reached = !faults.some(({ level }) => level === "failed");
    const { draft, why } = draftOf(tried, { name, edits: edits[url] ?? {}, cards });
    const questions = openQuestions(tried, draft);
    const taken = reached && draft !== null && questions.length === 0;
    const [word, tone] = stateOf({ reached, taken, faults, guessed: draft?.guessed.length ?? 0 });
    return {
      ...{ url, name, word, tone, trying, faults, draft, why, questions, taken },
      fine: fineText(tried),
      adapters: draft === null ? [] : tried.adapters,
      served: tried.served.length > 1 || (tried.draft === null && tried.served.length > 0) ? tried.served : [],
    };
  });
}

function stateOf(of: {
  readonly reached: boolean;
  readonly taken: boolean;
  readonly faults: readonly Finding[];
  readonly guessed: number;
}): readonly [string, Tone] {
  if (!of.reached) return ["left out", "bad"];
  if (!of.taken) return ["asks", "warn"];
  return of.faults.length > 0 ? ["ready, with gaps", "warn"] : ["ready", "good"];
}

/** A question on the card of its model is answered by choosing one; which of several it serves, by naming it. */
function openQuestions(tried: TriedEndpoint, draft: EndpointDraft | null): readonly string[] {
  return tried.draft === null && draft !== null ? [] : tried.questions;
}

function fineText({ engine, findings }: TriedEndpoint): string {
  const told = engine === null ? [] : [`${engine.type}${engine.version === null ? "" : ` ${engine.version}`}`];
  const about = findings.filter(({ level, what }) => level === "ok" && what !== "engine" && what !== "reached");
  return [...told, ...about.map(({ sentence }) => sentence.replace(/\.$/, ""))].join(" · ");
}

interface DraftOptions {
  readonly name: string;
  readonly edits: EndpointEdits;
  readonly cards: Cards | undefined;
}

/** An endpoint with an operator's entries. A guessed shape follows the GPU, the model and the precision. */
function draftOf(tried: TriedEndpoint, { name, edits, cards }: DraftOptions): Pick<EndpointRow, "draft" | "why"> {
  const found = tried.draft ?? draftByHand(tried, { name, edits, cards });
  if (found === null) return { draft: null, why: {} };
  const said = Object.keys(edits);
  const guessed = found.guessed.filter((field) => !said.includes(field));
  const why = Object.fromEntries(
    guessed.map((field) => [field, tried.guesses.find((guess) => guess.field === field)?.why ?? "The engine does not report it."]),
  );
  const draft = { ...found, name, ...edits, guessed };
  const moved = (["model", "gpu", "precision"] as const).some(
    (field) => edits[field] !== undefined && edits[field] !== tried.draft?.[field],
  );
  const shape = moved && guessed.includes("tp") && guessed.includes("pp") ? fewestGpus(draft, cards) : null;
  if (shape === null) return { draft, why };
  const reason = `The fewest ${draft.gpu} that hold ${draft.model} in ${draft.precision}; the engine does not report it.`;
  return { draft: { ...draft, ...shape }, why: { ...why, tp: reason, pp: reason } };
}

/** The card that was chosen for a model that has no card. */
function draftByHand({ tried, served }: TriedEndpoint, { name, edits, cards }: DraftOptions): EndpointDraft | null {
  const card = cards?.models.find(({ id }) => id === edits.model);
  if (card === undefined) return null;
  const servedName = tried.servedName ?? served[0];
  return {
    ...{ ...tried, name },
    ...(servedName !== undefined && servedName !== card.id && { servedName }),
    ...{ model: card.id, gpu: cards?.gpus.find(({ id }) => id === "h100-sxm")?.id ?? cards?.gpus[0]?.id ?? "", tp: 1, pp: 1 },
    ...{ precision: card.precision, guessed: ["gpu", "tp", "pp", "precision"] },
  };
}

function fewestGpus(
  { model, gpu, precision }: { readonly model: string; readonly gpu: string; readonly precision: Precision },
  cards: Cards | undefined,
): { readonly tp: number; readonly pp: number } | null {
  const card = cards?.models.find(({ id }) => id === model);
  const type = cards?.gpus.find(({ id }) => id === gpu);
  const shape = card === undefined || type === undefined ? undefined : usualShape(atPrecision(card, precision), type, usualNode);
  return shape === undefined ? null : { tp: shape.tp, pp: shape.pp };
}
