import { expect, it } from "vitest";
import { watchPrinting } from "./useOnScreen";

it("is told of each printing from before it until after it, until it no longer asks", () => {
  const page = new EventTarget();
  const told: boolean[] = [];
  const stop = watchPrinting(page, (printing) => told.push(printing));
  for (const name of ["beforeprint", "afterprint"]) page.dispatchEvent(new Event(name));
  stop();
  page.dispatchEvent(new Event("beforeprint"));
  expect(told).toEqual([true, false]);
});
