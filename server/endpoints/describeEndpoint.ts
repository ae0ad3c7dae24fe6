import { findModel } from "@/solver/hardware/aliases";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import { atPrecision, type ModelCard, type Precision } from "@/solver/hardware/modelCard";
import { usualShape } from "@/solver/hardware/replicaShapes";
import type { ProbeTarget, ServedModel } from "../engineClient/checkEndpoint";
import type { Endpoint, guessable } from "./connection";
import { spellings } from "./ggufNames";
import type { EndpointProbe } from "./probeEndpoint";

/** An unconfirmed value, and the reason for it. */
interface Guess {
  readonly field: (typeof guessable)[number];
  readonly why: string;
}

/** The known data of an endpoint. `endpoint` null: none of its models has a card. */
export interface DescribedEndpoint {
  readonly endpoint: Endpoint | null;
  /** Adapters of its model, by their names there; empty for an adapter. */
  readonly adapters: readonly string[];
  readonly guesses: readonly Guess[];
  /** What the operator must state before it can be attached, a sentence each. */
  readonly questions: readonly string[];
}

export interface DescribeOptions {
  readonly cards: CardCatalogue;
  /** Default GPU type, such as that of earlier endpoints; absent: a common one. */
  readonly gpu?: string;
}

const usualGpu = "h100-sxm";

/** Assumed GPUs of one server, if the shape must be guessed. */
const usualNode = { gpusPerNode: 8, maxGpus: 8 };

/** Derives an endpoint from a probe: reported values are used, missing ones are guessed and marked as guesses. */
export function describeEndpoint(
  target: ProbeTarget,
  probe: Pick<EndpointProbe, "served" | "shape" | "precision" | "limits">,
  options: DescribeOptions,
): DescribedEndpoint {
  const { cards, gpu: likely = usualGpu } = options;
  const own = probe.served.filter(({ parent }) => parent === null);
  const named = own.map((served) => ({ served, model: modelOf(served, cards) }));
  const adapter = probe.served.find(({ id, parent }) => parent !== null && id === target.servedName);
  const asked = adapter?.parent ?? target.servedName;
  const wanted = asked === undefined ? named : named.filter(({ served }) => served.id === asked);
  const chosen = wanted.find(({ model }) => model !== undefined);
  if (chosen?.model === undefined) return { endpoint: null, adapters: [], guesses: [], questions: [noModel(target, own)] };

  const { served, model } = chosen;
  const guesses: Guess[] = [];
  const questions: string[] = [];
  if (wanted.length > 1) {
    guesses.push({
      field: "model",
      why: `It serves ${wanted.map((one) => one.served.id).join(", ")}; this is the first of which there is a card.`,
    });
    questions.push(`Which of ${wanted.map((one) => one.served.id).join(", ")} is to be attached?`);
  }
  guesses.push({ field: "gpu", why: "An engine does not tell its GPUs." });
  const precision = probe.precision ?? model.precision;
  if (probe.precision === null) guesses.push({ field: "precision", why: `By the name ${served.root ?? served.id}.` });
  const shape = probe.shape ?? likelyShape(model.card, precision, { likely, cards });
  if (probe.shape === null)
    for (const field of ["tp", "pp"] as const)
      guesses.push({ field, why: `The fewest ${likely} that hold ${model.card.id} in ${precision}; the engine does not tell.` });
  const { name, url, key, caFile } = target;
  return {
    endpoint: {
      ...{
        name,
        url,
        model: adapter === undefined ? model.card.id : modelName(adapter.id),
        gpu: likely,
        tp: shape.tp,
        pp: shape.pp,
        precision,
        guessed: guesses.map(({ field }) => field),
      },
      ...(key && { key }),
      ...(caFile !== undefined && { caFile }),
      ...(adapter === undefined
        ? served.id !== model.card.id && { servedName: served.id }
        : { adapterOf: model.card.id, servedName: adapter.id }),
      ...(probe.limits !== null && { limits: { ...probe.limits, source: "engine" } }),
    },
    adapters: adapter === undefined ? probe.served.filter(({ parent }) => parent === served.id).map(({ id }) => id) : [],
    guesses,
    questions,
  };
}

/** An adapter's name as the id of a card. */
const modelName = (id: string): string => id.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");

/** By what was loaded, which may be a path, or by the served name. */
function modelOf({ id, root }: ServedModel, { models }: CardCatalogue) {
  const names = [
    root,
    root
      ?.split("/")
      .filter((part) => part !== "")
      .at(-1),
    id,
    ...spellings(id),
  ];
  return names.flatMap((name) => (name ? [findModel(name, models)] : [])).find((model) => model !== undefined);
}

function noModel({ name, servedName }: ProbeTarget, own: readonly ServedModel[]): string {
  if (own.length === 0) return `${name} lists no model: say which one it serves.`;
  const names = servedName ?? own.map(({ id }) => id).join(", ");
  return `There is no card of ${names}, which ${name} serves: choose the card of a model like it, or add one of your own.`;
}

interface ShapeGround {
  readonly likely: string;
  readonly cards: CardCatalogue;
}

function likelyShape(card: ModelCard, precision: Precision, { likely, cards }: ShapeGround): { readonly tp: number; readonly pp: number } {
  const gpu = cardOf(cards.gpus, likely);
  return (gpu && usualShape(atPrecision(card, precision), gpu, usualNode)) ?? { tp: 1, pp: 1 };
}
