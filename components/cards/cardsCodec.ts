import { codecOf, number, text, type ViewOf, withDefault, word } from "../url/addressFields";

const parallel = withDefault(number({ min: 1, max: 64 }), 1);

/** What the Cards page shows: a search, a dialog, and the question of the fit checker. */
export const cardsCodec = codecOf({
  find: withDefault(text(), ""),
  add: word(["model", "gpu"]),
  model: withDefault(text(), "llama-3.1-8b"),
  gpu: withDefault(text(), "h100-sxm"),
  tp: parallel,
  pp: parallel,
  /** null: as the card says. */
  precision: word(["bf16", "fp8", "int4"]),
  kv: withDefault(word(["bf16", "fp8"]), "bf16"),
  /** Share of a GPU's memory the engine may take, in per cent. */
  memory: withDefault(number({ min: 10, max: 100 }), 90),
});
export type CardsView = ViewOf<typeof cardsCodec>;

export const defaultView = cardsCodec.parse(new URLSearchParams());
