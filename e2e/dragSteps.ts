import type { Locator, Page } from "@playwright/test";

/** Time between two steps of a drag: longer than a step's work, so that each is measured by itself. */
const STEP_MS = 60;

/** A drag of a slider's thumb, step by step. */
export interface Drag {
  /** Milliseconds for which each step keeps the page's thread from anything else: the longest stretch until the next step. */
  readonly blockedMs: readonly number[];
  /** Milliseconds of processor time for all that each step makes the page's thread do. */
  readonly computedMs: readonly number[];
  /** Distinct texts that were read after each step, in order. */
  readonly texts: readonly string[];
}

/**
 * Drags a thumb by `by` pixels in `steps` steps with the mouse, and reads a text after each. Then, with the thumb still held, back and forth
 * again for the processor's time alone: on a busy machine other processes have a part in what a step blocks.
 */
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
  const computedMs = await computed(page, { x, y, by, steps });
  await page.mouse.up();
  return { blockedMs, computedMs, texts };
}

/** Processor time of the page's thread for each step back, without what it needs while nothing moves; the thumb ends where it was. */
async function computed(page: Page, { x, y, by, steps }: Readonly<Record<"x" | "y" | "by" | "steps", number>>): Promise<readonly number[]> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const read = async (): Promise<number> => {
    const { metrics } = await cdp.send("Performance.getMetrics");
    return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
  };
  const costOf = async (act: () => Promise<void>): Promise<number> => {
    const before = await read();
    await act();
    await page.waitForTimeout(STEP_MS);
    return (await read()) - before;
  };
  const idle = Math.min(await costOf(async () => {}), await costOf(async () => {}));
  const each: number[] = [];
  for (let step = steps - 1; step >= 0; step -= 1) {
    each.push(Math.max(0, (await costOf(() => page.mouse.move(x + (step * by) / steps, y))) - idle));
  }
  await page.mouse.move(x + by, y);
  await cdp.detach();
  return each;
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

/** `blocks 2.1 ms (p95 4.0), computes 3.2 ms (p95 5.1), 40 steps`. */
export function stepTimes({ blockedMs, computedMs }: Drag): string {
  return `blocks ${quantiles(blockedMs)}, computes ${quantiles(computedMs)}, ${blockedMs.length} steps`;
}

function quantiles(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
  return `${at(0.5)} ms (p95 ${at(0.95)})`;
}
