import type { CardStore } from "@/server/cards/cardStore";
import { readModelText } from "@/server/cards/readModelText";
import type { Outcome } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import type { UserCards, UserGpu, UserModel } from "@/solver/hardware/cardSchema";
import { cardOf } from "@/solver/hardware/catalogue";
import type { GpuCard } from "@/solver/hardware/gpus";
import type { ModelCard } from "@/solver/hardware/modelCard";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import type { Actor } from "../base/actor";
import type { CardKind } from "../base/inputs";

/** All cards; `own` ones were added by a user. */
interface CardList {
  readonly models: readonly (ModelCard & { readonly own: boolean })[];
  readonly gpus: readonly (GpuCard & { readonly own: boolean; readonly ownPrice: boolean })[];
  /** Why the user's own cards cannot be used, in one sentence; null if they can, or there are none. */
  readonly problem: string | null;
}

export type CardService = ReturnType<typeof createCardService>;

/** Model and GPU cards over the shelf; every change has an audit line. */
export function createCardService(store: Store, shelf: CardStore) {
  function change(edit: (cards: UserCards) => UserCards, audit: { actor: string; action: string; subject: string; detail: string }) {
    const changed = shelf.change(edit);
    if (changed.ok) store.audit.add({ at: new Date().toISOString(), objectKind: "card", objectId: audit.subject, ...audit });
    return changed;
  }

  /** The user of a card that prevents its removal; null if there is none. */
  function holderOf(kind: "model" | "gpu", id: string): string | null {
    if (kind === "gpu") {
      const cluster = store.clusters.list().find(({ spec }) => gpuTypes(spec).includes(id));
      return cluster === undefined ? null : `the cluster "${cluster.spec.name}"`;
    }
    const workload = store.workloads.list().find(({ models }) => models.some(({ model }) => model === id));
    return workload === undefined ? null : `the workload "${workload.name}"`;
  }

  return {
    list(): CardList {
      const { userCards, catalogue, problem } = shelf.read();
      const own = (cards: readonly { readonly id: string }[], id: string) => cards.some((card) => card.id === id);
      return {
        models: Object.values(catalogue.models).map((card) => ({ ...card, own: own(userCards.models, card.id) })),
        gpus: Object.values(catalogue.gpus).map((card) => ({
          ...card,
          own: own(userCards.gpus, card.id),
          ownPrice: Object.hasOwn(userCards.prices, card.id),
        })),
        problem,
      };
    },
    /** Reads a pasted `config.json` of Hugging Face, or a model card of this studio; nothing is stored. */
    readModel: readModelText,
    addModel(model: UserModel, actor: Actor): Outcome<object> {
      if (cardOf(shelf.read().catalogue.models, model.id) !== undefined)
        return { ok: false, message: `There is a model "${model.id}" already: give another id.` };
      const audit = { actor, action: "add model card", subject: model.id, detail: model.source };
      return change((cards) => ({ ...cards, models: [...cards.models, model] }), audit);
    },
    addGpu(gpu: UserGpu, actor: Actor): Outcome<object> {
      if (cardOf(shelf.read().catalogue.gpus, gpu.id) !== undefined)
        return { ok: false, message: `There is a GPU "${gpu.id}" already: give another id.` };
      const audit = { actor, action: "add GPU card", subject: gpu.id, detail: gpu.source };
      return change((cards) => ({ ...cards, gpus: [...cards.gpus, gpu] }), audit);
    },
    /** Refused while a workload names the model or a cluster the GPU. */
    remove(kind: CardKind, id: string, actor: Actor): Outcome<object> {
      const { userCards } = shelf.read();
      const own = (kind === "model" ? userCards.models : userCards.gpus).some((card) => card.id === id);
      if (!own) return { ok: false, message: `There is no ${kind === "model" ? "model" : "GPU"} "${id}" of your own.` };
      const holder = holderOf(kind, id);
      if (holder !== null) return { ok: false, message: `${id} belongs to ${holder}: it stays as long as that is there.` };
      const audit = { actor, action: kind === "model" ? "remove model card" : "remove GPU card", subject: id, detail: "" };
      const others = <Card extends { readonly id: string }>(cards: readonly Card[]) => cards.filter((card) => card.id !== id);
      return kind === "model"
        ? change((cards) => ({ ...cards, models: others(cards.models) }), audit)
        : change(({ prices: { [id]: _, ...prices }, ...cards }) => ({ ...cards, gpus: others(cards.gpus), prices }), audit);
    },
    /** null restores the list price. */
    setPrice(gpu: string, usdPerGpuHour: number | null, actor: Actor): Outcome<object> {
      if (cardOf(shelf.read().catalogue.gpus, gpu) === undefined) return { ok: false, message: `There is no GPU "${gpu}".` };
      const asOf = new Date().toISOString().slice(0, 10);
      const detail = usdPerGpuHour === null ? "list price" : `$${usdPerGpuHour} an hour`;
      return change(
        ({ prices: { [gpu]: _, ...prices }, ...cards }) => ({
          ...cards,
          prices: usdPerGpuHour === null ? prices : { ...prices, [gpu]: { usdPerGpuHour, asOf } },
        }),
        { actor, action: "set GPU price", subject: gpu, detail },
      );
    },
  };
}
