/** Time within which the second key must follow `g`. */
export const SEQUENCE_MS = 1200;

/** Whether keys belong to the focused element: a text being typed, a slider, a list, a dialog. */
export function takesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest("input, select, textarea, [role=slider], [role=dialog]") !== null;
}

/** The properties of a key press that decide who handles it. */
type Press = Pick<KeyboardEvent, "key" | "repeat" | "ctrlKey" | "metaKey" | "altKey" | "timeStamp">;

/**
 * Makes a filter of keys that a page handles itself: null for a key that is held down, that has a modifier, or that ends
 * one of the studio's sequences, which begin with `g`.
 */
export function createPageKeys(): (press: Press) => string | null {
  let prefixAtMs = Number.NEGATIVE_INFINITY;
  return ({ key, repeat, ctrlKey, metaKey, altKey, timeStamp }) => {
    if (repeat || ctrlKey || metaKey || altKey) return null;
    const ends = timeStamp - prefixAtMs < SEQUENCE_MS;
    prefixAtMs = key === "g" ? timeStamp : Number.NEGATIVE_INFINITY;
    return ends || key === "g" ? null : key;
  };
}
