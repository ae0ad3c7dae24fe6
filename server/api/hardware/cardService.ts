import type { CardStore } from "@/server/cards/cardStore";
import { readModelText } from "@/server/cards/readModelText";
import type { Store } from "@/server/store/store";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { cardOf } from "@/solver/hardware/catalogue";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import type { CardService } from "../base/hardwareServices";

/** Model and GPU cards over the shelf; every change has an audit line. */
export function createCardService(store: Store, shelf: CardStore): CardService {
  function change(edit: (cards: UserCards) => UserCards, audit: { actor: string; action: string; subject: string; detail: string }) {
    const changed = shelf.change(edit);
    if (changed.ok) store.audit.add({ at: new Date().toISOString(), ...audit });
    return changed;
  }

  /** Who would miss a card; null when nobody would. */
  function holderOf(kind: "model" | "gpu", id: string): string | null {
    if (kind === "gpu") {
      const cluster = store.clusters.list().find(({ spec }) => gpuTypes(spec).includes(id));
      return cluster === undefined ? null : `the cluster "${cluster.spec.name}"`;
    }
    const workload = store.workloads.list().find(({ models }) => models.some(({ model }) => model === id));
    return workload === undefined ? null : `the workload "${workload.name}"`;
  }

  return {
    list() {
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
    readModel: readModelText,
    addModel(model, actor) {
      if (cardOf(shelf.read().catalogue.models, model.id) !== undefined)
        return { ok: false, message: `There is a model "${model.id}" already: give another id.` };
      const audit = { actor, action: "add model card", subject: model.id, detail: model.source };
      return change((cards) => ({ ...cards, models: [...cards.models, model] }), audit);
    },
    addGpu(gpu, actor) {
      if (cardOf(shelf.read().catalogue.gpus, gpu.id) !== undefined)
        return { ok: false, message: `There is a GPU "${gpu.id}" already: give another id.` };
      const audit = { actor, action: "add GPU card", subject: gpu.id, detail: gpu.source };
      return change((cards) => ({ ...cards, gpus: [...cards.gpus, gpu] }), audit);
    },
    remove(kind, id, actor) {
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
    setPrice(gpu, usdPerGpuHour, actor) {
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
