import fc from "fast-check";
import { expect, it } from "vitest";
import { writeView } from "../url/useUrlView";
import { gatesCodec } from "./gatesCodec";

it("the share and the chosen gate survive the address, beside the parameters of others", () => {
  fc.assert(
    fc.property(
      fc.record({ share: fc.integer({ min: 1, max: 99 }), gate: fc.constantFrom(null, "judge", "judge of AUC 0.8") }),
      ({ share, gate }) => {
        const view = { share: share / 100, gate };
        const address = writeView(gatesCodec, new URLSearchParams("tab=gates"), view).toString();
        expect(gatesCodec.parse(new URLSearchParams(address))).toEqual(view);
        expect(address).toContain("tab=gates");
      },
    ),
  );
});

it("an address that somebody typed means half of the answers and the best gate", () => {
  for (const typed of ["share=0", "share=1", "share=half&gate="])
    expect(gatesCodec.parse(new URLSearchParams(typed))).toEqual({ share: 0.5, gate: null });
});
