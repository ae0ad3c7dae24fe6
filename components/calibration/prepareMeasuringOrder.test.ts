import { expect, test } from "vitest";
import { concurrencyFault, measuringForm, measuringOrder } from "./prepareMeasuringOrder";

const unnamed = { engine: null, served: null, gpu: null, tp: null, pp: null };
const form = measuringForm({ engine: "http://gpu-1:8000", served: "llama", gpu: "h100-sxm", tp: 4, pp: 2 });

test("an engine that the page's address names is ordered in its shape, with the usual budget", () => {
  expect(measuringOrder(form)).toEqual({
    ...{ url: "http://gpu-1:8000", model: "llama", gpu: "h100-sxm", tp: 4, pp: 2 },
    ...{ minutes: 6, tokens: 2_000_000, concurrency: null, servingOthers: false, key: undefined },
  });
});

test("without an engine in the address the form is empty and orders nothing yet", () => {
  expect(measuringForm(unnamed)).toMatchObject({ url: "", model: "", gpu: "", tp: 1, pp: 1 });
  expect(measuringOrder(measuringForm(unnamed))).toBeNull();
  expect(measuringOrder({ ...measuringForm(unnamed), url: " http://127.0.0.1:8000 " })).toMatchObject({
    ...{ url: "http://127.0.0.1:8000", model: null, gpu: null },
  });
});

test("the budget and the most requests in flight are ordered as entered", () => {
  const entered = { ...form, minutes: 1.5, tokens: 50_000, concurrency: " 16 " };
  expect(measuringOrder(entered)).toMatchObject({ minutes: 1.5, tokens: 50_000, concurrency: 16 });
});

test("a wrong number of requests in flight is named and orders nothing", () => {
  for (const concurrency of ["0", "4097", "1.5", "many"]) {
    expect(concurrencyFault(concurrency)).toBe("A whole number from 1 to 4,096.");
    expect(measuringOrder({ ...form, concurrency })).toBeNull();
  }
  expect(concurrencyFault("")).toBeNull();
});

test("a key is ordered by its reference, and a wrong reference orders nothing", () => {
  expect(measuringOrder({ ...form, key: { from: "environment", text: "WEIR_ENGINE_ONE" } })).toMatchObject({
    key: { environment: "WEIR_ENGINE_ONE" },
  });
  expect(measuringOrder({ ...form, key: { from: "environment", text: "sk-secret" } })).toBeNull();
});
