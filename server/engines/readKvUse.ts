import { chooseMapping } from "./chooseMapping";
import { parsePromText } from "./promText";
import { readNotions } from "./readNotions";

export type KvUse =
  /** Share of the KV cache in use, 0..1; of the fullest part where an engine has several. */
  { readonly found: true; readonly value: number } | { readonly found: false; readonly lookedFor: string };

/** Reads how full an engine's KV cache is from its exposition, under the names that engines in use give it. */
export function readKvUse(text: string): KvUse {
  const metrics = parsePromText(text);
  const mapping = chooseMapping(metrics, null);
  const use = mapping === undefined ? null : readNotions(metrics, mapping).kvUse;
  if (use?.state === "value") return { found: true, value: use.value.max };
  return { found: false, lookedFor: use?.state === "absent" ? use.lookedFor : "a KV metric of a known engine type" };
}
