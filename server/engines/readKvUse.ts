import { engineMappings, type Notion } from "./engineMapping";
import { parsePromText } from "./promText";
import { readNumber } from "./readNotion";

export type KvUse =
  /** Share of the KV cache in use, 0..1; of the fullest part where an engine has several. */
  { readonly found: true; readonly value: number } | { readonly found: false; readonly lookedFor: string };

interface KvName {
  readonly notion: Notion;
  readonly prefix: string;
  /** The lines of its samples, without reading the rest of an exposition of some hundred lines every second. */
  readonly lines: RegExp;
}

const kvNames: readonly KvName[] = engineMappings.flatMap(({ prefix, notions: { kvUse } }) =>
  kvUse === null ? [] : [{ notion: kvUse, prefix, lines: new RegExp(`^${kvUse.name}[{\\s].*$`, "gm") }],
);

/** Reads how full an engine's KV cache is from its exposition, under the names that engines in use give it, the newest first. */
export function readKvUse(text: string): KvUse {
  for (const { notion, lines } of kvNames) {
    const samples = text.match(lines);
    if (samples === null) continue;
    const value = readNumber(parsePromText(samples.join("\n")), notion);
    if (value !== null) return { found: true, value };
  }
  const own = kvNames.find(({ prefix }) => text.startsWith(prefix) || text.includes(`\n${prefix}`));
  return { found: false, lookedFor: own?.notion.name ?? "a KV metric of a known engine type" };
}
