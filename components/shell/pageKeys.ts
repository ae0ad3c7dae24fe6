/** How long `g` waits for the second key. */
export const SEQUENCE_MS = 1200;

/** Whether keys go to what has the focus: a text being typed, a slider, a list, a dialog. */
export function takesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest("input, select, textarea, [role=slider], [role=dialog]") !== null;
}

/** What of a key press decides whom it is meant for. */
type Press = Pick<KeyboardEvent, "key" | "repeat" | "ctrlKey" | "metaKey" | "altKey" | "timeStamp">;

/**
 * Makes a reader of keys that a page gives a meaning of its own: null for a key that is held down, that comes with a modifier, or that ends
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
