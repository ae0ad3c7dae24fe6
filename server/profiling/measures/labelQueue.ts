import type { HandLabelOrder, LabelTask, Prompt } from "@/server/contracts/studio";
import type { StoredProfile } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";
import { messageText } from "@/solver/judging/conversation";
import { answerOrder, pairOf, pairOrder } from "@/solver/judging/labelOrder";

/** An answer, or two to the same prompt in the order shown. `other` is empty where it is one. */
export interface Shown {
  readonly position: number;
  readonly model: string;
  readonly other: string;
}

/** Which answers of a job are presented for labelling, in which order. The labelling person does not learn whose they are. */
export interface LabelQueue {
  /** The order's own next ones from the start that `isLabelled` does not hold of, at most so many, with their places in the order. */
  next(isLabelled: (shown: Shown) => boolean, most: number): readonly { readonly index: number; readonly shown: Shown }[];
  /** The entry at a position of the order; null: nothing, or its text is no longer stored. */
  at(index: number): Shown | null;
  /** null: its text is no longer stored. */
  task(index: number, shown: Shown): LabelTask | null;
}

type KeptAnswers = ReturnType<Store["profiles"]["keptAnswers"]>;

/** Answers looked up one by one before all stored ones are listed: in a job that has just begun there are few among many. */
const LOOKED_UP = 200;

export function createLabelQueue(store: Store, { id, promptSetId, request }: StoredProfile, kind: HandLabelOrder["kind"]): LabelQueue {
  const models = request.models.map(({ model }) => model);
  const prompts = store.prompts.get(promptSetId)?.prompts ?? 0;
  const against = request.measures.find((measure) => measure.kind === "pairwise")?.against ?? null;
  const order = kind === "one" ? answerOrder(id, prompts, models.length) : pairOrder(id, prompts);
  const blind = blinding(models);
  const isKept = ({ position, model, other }: Shown): boolean =>
    [model, other].every((one) => one === "" || store.profiles.answer(id, position, one) !== null);

  function shownAt(index: number): Shown | null {
    const place = order[index];
    if (place === undefined) return null;
    if (kind === "one") return { position: Math.floor(place / models.length), model: models[place % models.length] ?? "", other: "" };
    const pair = pairOf(id, place, models, against);
    return pair === null ? null : { position: place, model: pair[0], other: pair[1] };
  }

  return {
    next(isLabelled, most) {
      const found: { readonly index: number; readonly shown: Shown }[] = [];
      if (!store.profiles.hasAnswers(id)) return found;
      let kept: KeptAnswers | null = null;
      for (let index = 0, missed = 0; index < order.length && found.length < most; index += 1) {
        const shown = shownAt(index);
        if (shown === null || isLabelled(shown)) continue;
        if (kept === null ? isKept(shown) : isIn(kept, shown)) found.push({ index, shown });
        else missed += 1;
        if (missed === LOOKED_UP) kept ??= store.profiles.keptAnswers(id);
      }
      return found;
    },
    at(index) {
      const shown = shownAt(index);
      return shown !== null && isKept(shown) ? shown : null;
    },
    task(index, { position, model, other }) {
      const prompt = store.prompts.prompt(promptSetId, position);
      const answers = [model, other].flatMap((one) => (one === "" ? [] : (store.profiles.answer(id, position, one) ?? [])));
      if (prompt === null || answers.length < (other === "" ? 1 : 2)) return null;
      return { index, messages: messagesOf(prompt), reference: prompt.reference, answers: answers.map(blind) };
    },
  };
}

const isIn = (kept: KeptAnswers, { position, model, other }: Shown): boolean =>
  [model, other].every((one) => one === "" || kept.get(one)?.has(position));

/** Takes names of the profile's models out of answers: some say who they are, emulated ones each time. */
function blinding(models: readonly string[]): (text: string) => string {
  const names = models
    .filter(({ length }) => length > 2)
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  if (names.length === 0) return (text) => text;
  const named = new RegExp(`(?<![\\w/-])(?:${names.join("|")})(?![\\w/-])`, "gi");
  return (text) => text.replace(named, "[model]");
}

const messagesOf = ({ body }: Prompt): LabelTask["messages"] =>
  body.messages.map((message) => {
    const fields = typeof message === "object" && message !== null ? (message as Readonly<Record<string, unknown>>) : {};
    return { role: String(fields.role ?? ""), text: messageText(fields) };
  });
