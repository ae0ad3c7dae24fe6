/** The letter and the hue a model has on every page. The hue is made of CSS variables, so both themes are served by one name. */
export interface ModelIdentity {
  readonly model: string;
  /** One letter; followed by a number (`H2`) where more than eight models are shown together. */
  readonly letter: string;
  /** CSS colour, for strokes, borders and fills. */
  readonly hue: string;
}

/**
 * Upper ends of the size classes A..H in billions of parameters. The class comes from the size in the model's name, so a
 * model keeps its hue on every page and in every ladder without a registry. The ends fall between the sizes that families
 * of open models come in (0.5-1.5, 2-4, 6-8, 9-11, 13-22, 27-34, 70-104, above).
 */
const CLASS_ENDS = [2, 5, 8.5, 12, 24, 50, 120] as const;
const LETTERS = ["A", "B", "C", "D", "E", "F", "G", "H"] as const;

/** The parameter count in a model's name, in billions; null when the name has none. */
export function sizeInName(model: string): number | null {
  const match = /(?:^|[^0-9.a-z])(?:\d+x)?(\d+(?:\.\d+)?)b(?![a-z0-9])/i.exec(model);
  return match?.[1] === undefined ? null : Number(match[1]);
}

function homeClass(model: string): number {
  const size = sizeInName(model);
  if (size === null) return LETTERS.length - 1;
  const index = CLASS_ENDS.findIndex((end) => size < end);
  return index === -1 ? LETTERS.length - 1 : index;
}

/** The remaining share of a hue in each further round of eight; the rest is ink. */
const KEPT_OF_HUE = 0.55;

/**
 * Identities of the models shown together. Two models of one size class would share a hue: the later one moves to the next
 * free class. After eight models all classes are free once more, with a number behind their letters and hues nearer to ink.
 *
 * @example identifyModels(["llama-3.1-8b", "llama-3.1-70b"]).get("llama-3.1-70b")?.letter === "G"
 */
export function identifyModels(models: readonly string[]): ReadonlyMap<string, ModelIdentity> {
  let taken = new Set<number>();
  const identities = new Map<string, ModelIdentity>();
  for (const model of models) {
    if (identities.has(model)) continue;
    if (taken.size === LETTERS.length) taken = new Set();
    const round = Math.floor(identities.size / LETTERS.length);
    let slot = homeClass(model);
    while (taken.has(slot)) slot = (slot + 1) % LETTERS.length;
    taken.add(slot);
    const letter = LETTERS[slot] ?? "H";
    const hue = `var(--model-${letter.toLowerCase()})`;
    identities.set(model, {
      model,
      letter: round === 0 ? letter : `${letter}${round + 1}`,
      hue: round === 0 ? hue : `color-mix(in oklab, ${hue} ${Math.round(100 * KEPT_OF_HUE ** round)}%, var(--ink))`,
    });
  }
  return identities;
}
