import fc from "fast-check";
import { expect, it } from "vitest";
import { writeView } from "../url/useUrlView";
import { applyCodec } from "./applyCodec";

it("reads back every view that it writes, beside what others keep in the address", () => {
  fc.assert(
    fc.property(fc.record({ hideUnchanged: fc.boolean(), manifests: fc.boolean() }), (view) => {
      const written = writeView(applyCodec, new URLSearchParams("cluster=a"), view);
      expect(applyCodec.parse(written)).toEqual(view);
      expect(written.get("cluster")).toBe("a");
    }),
  );
});

it("hides what does not change where the address says nothing, or nothing it knows", () => {
  expect(applyCodec.parse(new URLSearchParams("unchanged=perhaps&manifests=1"))).toEqual({ hideUnchanged: true, manifests: false });
});
