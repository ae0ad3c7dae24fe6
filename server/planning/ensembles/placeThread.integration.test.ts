import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { testPlaceTask } from "../testing/testPlaceTask";
import { inPlaceThread } from "./placeThread";

it("places out of a thread, refuses there as well, and ends with who asked", async () => {
  const never = new AbortController().signal;
  const placed = await inPlaceThread(testPlaceTask(), never);
  expect(placed.ok && placed.placement.schedules.length).toBe(4);
  expect(await inPlaceThread(testPlaceTask({ gpu: "abacus" }), never)).toMatchObject({ ok: false });
  const leaving = new AbortController();
  const asked = inPlaceThread(testPlaceTask({ maxModelsPerWorker: null }), leaving.signal);
  leaving.abort(new Error("gone"));
  await expect(asked).rejects.toThrow("gone");
  await expect(inPlaceThread(testPlaceTask(), leaving.signal)).rejects.toThrow("gone");
  expect((await inPlaceThread(testPlaceTask(), never)).ok).toBe(true);
  expect(getEventListeners(never, "abort")).toEqual([]);
});
