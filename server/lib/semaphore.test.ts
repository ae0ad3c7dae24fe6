import { expect, it } from "vitest";
import { Semaphore } from "./semaphore";

it("lets so many in at once, in order, and passes over who has aborted", async () => {
  const semaphore = new Semaphore(2);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const enter = (name: string, signal?: AbortSignal) =>
    semaphore.hold(() => {
      order.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    }, signal);
  const abort = new AbortController();
  const held = [enter("a"), enter("b")];
  const given = enter("c", abort.signal);
  held.push(enter("d"));
  abort.abort(new Error("enough"));
  await expect(given).rejects.toThrow("enough");
  expect(order).toEqual(["a", "b"]);
  ends[0]?.();
  await held[0];
  await new Promise(setImmediate);
  expect(order).toEqual(["a", "b", "d"]);
  for (const end of ends) end();
  await Promise.all(held);
  await expect(semaphore.acquire(abort.signal)).rejects.toThrow("enough");
});

it("takes a place at once where one is free, and counts those that are held", async () => {
  const semaphore = new Semaphore(1);
  expect([semaphore.tryAcquire(), semaphore.tryAcquire(), semaphore.held]).toEqual([true, false, 1]);
  const next = semaphore.acquire();
  semaphore.release();
  await next;
  expect([semaphore.tryAcquire(), semaphore.held]).toEqual([false, 1]);
  semaphore.release();
  expect(semaphore.held).toBe(0);
});

it("gives the place back where the work throws", async () => {
  const semaphore = new Semaphore(1);
  await expect(semaphore.hold(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await semaphore.hold(async () => 1)).toBe(1);
});
