import fc from "fast-check";
import { expect, it } from "vitest";
import { writeView } from "../url/useUrlView";
import { type CalibrationView, calibrationCodec, metrics } from "./calibrationCodec";
import { groupings, groupMarks } from "./grouping";
import { rowOrders } from "./prepareRows";
import { withEvent } from "./useCheck";

const id = fc.option(fc.stringMatching(/^[a-z0-9 &=-]{1,20}$/), { nil: null });
const parallel = fc.option(fc.integer({ min: 1, max: 8 }), { nil: null });
const view: fc.Arbitrary<CalibrationView> = fc.record({
  profile: id,
  importing: fc.boolean(),
  ...{ engine: id, served: id, gpu: id, tp: parallel, pp: parallel },
  rows: id,
  fit: id,
  metric: fc.constantFrom(...metrics),
  group: fc.constantFrom(...groupings),
  order: fc.constantFrom(...rowOrders),
  descending: fc.boolean(),
});

it("gives back from the address what was written into it, beside what others wrote", () => {
  fc.assert(
    fc.property(view, (each) => {
      const params = writeView(calibrationCodec, new URLSearchParams("cluster=mine"), each);
      expect(calibrationCodec.parse(new URLSearchParams(params.toString()))).toEqual(each);
      expect(params.get("cluster")).toBe("mine");
    }),
  );
});

it("takes an address that makes no sense as the defaults", () => {
  expect(calibrationCodec.parse(new URLSearchParams("metric=p99&group=moon&order=x&direction=up&tp=four"))).toEqual(
    calibrationCodec.parse(new URLSearchParams()),
  );
});

it("takes the engine to measure from the address of its row on Clusters", () => {
  const address = new URLSearchParams("cluster=c&engine=http%3A%2F%2Fgpu-1%3A8000&served=org%2Fllama&gpu=h100-sxm&tp=4&pp=2");
  expect(calibrationCodec.parse(address)).toMatchObject({
    ...{ engine: "http://gpu-1:8000", served: "org/llama", gpu: "h100-sxm", tp: 4, pp: 2 },
  });
  expect(calibrationCodec.parse(new URLSearchParams("tp=9&pp=0.5"))).toMatchObject({ tp: null, pp: null });
});

it("marks groups in the order of their numbers, models as on every page", () => {
  expect([...groupMarks(["8", "1", "2", "1"], "tp").values()].map(({ name, letter }) => `${name} ${letter}`)).toEqual([
    "tp 1 1",
    "tp 2 2",
    "tp 8 8",
  ]);
  expect(groupMarks(["llama-3.1-70b"], "model").get("llama-3.1-70b")?.letter).toBe("G");
  expect(groupMarks(["trtllm"], "engine").get("trtllm")?.name).toBe("TensorRT-LLM");
});

it("begins anew when the table comes again, as after a lost connection", () => {
  const table = { kind: "table", name: "a.csv", rows: 1, unsupported: [], bad: [] } as const;
  const row = { line: 2, id: "x", reason: "no card" };
  const first = withEvent(withEvent({ ...empty }, table), { kind: "predicted", predictions: [], unsupported: [row] });
  expect(first.unsupported).toEqual([row]);
  expect(withEvent(first, table).unsupported).toEqual([]);
});

const empty = { name: "", rows: 0, unsupported: [], bad: [], predictions: [], errors: null, refusal: null };
