import fc from "fast-check";
import { expect, it } from "vitest";
import { writeView } from "../url/useUrlView";
import { tick, type WorkloadsView, workloadsCodec } from "./workloadsCodec";

it("what is ticked, unfolded and brought survives the address", () => {
  const id = fc.stringMatching(/^[0-9a-f]{8,64}$/);
  fc.assert(
    fc.property(
      fc.record({
        ticked: fc.uniqueArray(id, { maxLength: 2 }),
        unfolded: fc.array(fc.string({ minLength: 1, unit: "grapheme" }), { maxLength: 3 }),
        bring: fc.constantFrom(null, "choose" as const, "outcomes" as const, "lines" as const),
      }),
      (view: WorkloadsView) => {
        const address = writeView(workloadsCodec, new URLSearchParams(), view).toString();
        expect(workloadsCodec.parse(new URLSearchParams(address))).toEqual(view);
      },
    ),
  );
});

it("an address that somebody typed breaks nothing", () => {
  expect(workloadsCodec.parse(new URLSearchParams("tick=a+b+c&versions=%25zz&bring=gold"))).toEqual({
    ticked: ["a", "b"],
    unfolded: ["%zz"],
    bring: null,
  });
});

it("a third tick lets go of the first, and a tick twice takes it back", () => {
  expect(tick(["a", "b"], "c")).toEqual(["b", "c"]);
  expect(tick(["a", "b"], "a")).toEqual(["b"]);
});
