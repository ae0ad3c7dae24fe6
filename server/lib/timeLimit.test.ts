import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, vi } from "vitest";
import { timeLimit } from "./timeLimit";

setFlagsFromString("--expose_gc");
const collectGarbage = runInNewContext("gc") as () => void;

it("fires after its time though nobody but a listener holds it, and garbage is collected meanwhile", async () => {
  const reasons: unknown[] = [];
  const listen = (): void => {
    const signal = timeLimit(new AbortController().signal, 200);
    signal.addEventListener("abort", () => reasons.push((signal.reason as Error).name));
  };
  listen();
  for (let round = 0; round < 5; round += 1) {
    await sleep(10);
    collectGarbage();
  }
  await vi.waitUntil(() => reasons.length > 0, { timeout: 5_000 });
  expect(reasons).toEqual(["TimeoutError"]);
});

it("fires with the reason of the signal it stands for, at once where that has fired", () => {
  const outer = new AbortController();
  const limited = timeLimit(outer.signal, 60_000);
  expect(limited.aborted).toBe(false);
  outer.abort(new Error("left"));
  expect(limited.reason).toMatchObject({ message: "left" });
  expect(timeLimit(outer.signal, 60_000).aborted).toBe(true);
});
