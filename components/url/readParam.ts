/** A number parameter inside its bounds; anything else means the default, because an address can be typed by anyone. */
export function readNumber(params: URLSearchParams, name: string, bounds: { readonly min: number; readonly max: number }): number | null {
  const text = params.get(name);
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) && value >= bounds.min && value <= bounds.max ? value : null;
}

/** One of a few words, else null. */
export function readWord<const Word extends string>(params: URLSearchParams, name: string, words: readonly Word[]): Word | null {
  const text = params.get(name);
  return words.find((word) => word === text) ?? null;
}
