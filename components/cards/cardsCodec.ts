import type { Precision } from "@/solver/hardware/modelCard";
import { readNumber, readWord } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";

/** What the Cards page shows: a search, a dialog, and the question of the fit checker. */
export interface CardsView {
  readonly find: string;
  readonly add: "model" | "gpu" | null;
  readonly model: string;
  readonly gpu: string;
  readonly tp: number;
  readonly pp: number;
  /** null: as the card says. */
  readonly precision: Precision | null;
  readonly kv: "bf16" | "fp8";
  /** Share of a GPU's memory the engine may take, in per cent. */
  readonly memory: number;
}

export const defaultView: CardsView = {
  find: "",
  add: null,
  model: "llama-3.1-8b",
  gpu: "h100-sxm",
  tp: 1,
  pp: 1,
  precision: null,
  kv: "bf16",
  memory: 90,
};

const unlessUsual = <Key extends keyof CardsView>(view: CardsView, key: Key): string | undefined =>
  view[key] === defaultView[key] ? undefined : String(view[key]);

export const cardsCodec: UrlCodec<CardsView> = {
  parse: (params) => ({
    find: params.get("find") ?? defaultView.find,
    add: readWord(params, "add", ["model", "gpu"]),
    model: params.get("model") ?? defaultView.model,
    gpu: params.get("gpu") ?? defaultView.gpu,
    tp: readNumber(params, "tp", { min: 1, max: 64 }) ?? defaultView.tp,
    pp: readNumber(params, "pp", { min: 1, max: 64 }) ?? defaultView.pp,
    precision: readWord(params, "precision", ["bf16", "fp8", "int4"]),
    kv: readWord(params, "kv", ["bf16", "fp8"]) ?? defaultView.kv,
    memory: readNumber(params, "memory", { min: 10, max: 100 }) ?? defaultView.memory,
  }),
  format: (view) => ({
    find: unlessUsual(view, "find"),
    add: unlessUsual(view, "add"),
    model: unlessUsual(view, "model"),
    gpu: unlessUsual(view, "gpu"),
    tp: unlessUsual(view, "tp"),
    pp: unlessUsual(view, "pp"),
    precision: unlessUsual(view, "precision"),
    kv: unlessUsual(view, "kv"),
    memory: unlessUsual(view, "memory"),
  }),
};
