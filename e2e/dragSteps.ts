import type { Locator, Page } from "@playwright/test";

/** Time between two steps of a drag: longer than a step's work, so that each is measured by itself. */
const STEP_MS = 60;

/** A drag of a slider's thumb, step by step. */
export interface Drag {
  /** Milliseconds for which each step keeps the page's thread from anything else: the longest stretch until the next step. */
  readonly blockedMs: readonly number[];
  /** Distinct texts that were read after each step, in order. */
  readonly texts: readonly string[];
}

/** Drags a thumb by `by` pixels in `steps` steps with the mouse, and reads a text after each. */
export async function dragThumb(
  page: Page,
  thumb: Locator,
  { by, steps, read }: { readonly by: number; readonly steps: number; readonly read: Locator },
): Promise<Drag> {
  await thumb.scrollIntoViewIfNeeded();
  const box = await thumb.boundingBox();
  if (box === null) throw new Error("The slider's thumb is not on the page.");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const texts: string[] = [];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.evaluate(watchThread);
  for (let step = 1; step <= steps; step += 1) {
    await page.mouse.move(x + (step * by) / steps, y);
    await page.waitForTimeout(STEP_MS);
    const text = (await read.textContent()) ?? "";
    if (text !== texts.at(-1)) texts.push(text);
  }
  const blockedMs = await page.evaluate(() => (window as unknown as Watched).endWatch());
  await page.mouse.up();
  return { blockedMs, texts };
}

interface Watched {
  endWatch: () => number[];
}

/**
 * Runs in the page: posts messages to itself without a pause. A gap between two of them is the time for which something else had the thread:
 * the step's event, its drawing, or what it deferred.
 */
function watchThread(): void {
  const blocked: number[] = [];
  const channel = new MessageChannel();
  let last = performance.now();
  let ended = false;
  const onStep = () => blocked.push(0);
  channel.port1.onmessage = () => {
    const now = performance.now();
    const at = blocked.length - 1;
    if (at >= 0) blocked[at] = Math.max(blocked[at] ?? 0, now - last);
    last = now;
    if (!ended) channel.port2.postMessage(null);
  };
  window.addEventListener("pointermove", onStep, { capture: true });
  channel.port2.postMessage(null);
  (window as unknown as Watched).endWatch = () => {
    ended = true;
    window.removeEventListener("pointermove", onStep, { capture: true });
    return blocked;
  };
}

/** `p50 2.1 ms, p95 4.0 ms of 40 steps`. */
export function stepTimes({ blockedMs }: Drag): string {
  const sorted = [...blockedMs].sort((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms of ${sorted.length} steps`;
}
