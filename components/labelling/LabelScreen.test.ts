import { expect, it } from "vitest";
import { writeView } from "../url/useUrlView";
import { labelCodec } from "./LabelScreen";
import { floorCodec } from "./TrustPanel";

it("keeps what is labelled and the floor in one address, beside what others wrote", () => {
  const two = writeView(labelCodec, new URLSearchParams("cluster=mine"), { kind: "two" });
  const params = writeView(floorCodec, two, { floor: 0 });
  expect(params.toString()).toBe("cluster=mine&answers=two&floor=0");
  expect([labelCodec.parse(params), floorCodec.parse(params)]).toEqual([{ kind: "two" }, { floor: 0 }]);
  expect(writeView(floorCodec, writeView(labelCodec, params, { kind: "one" }), { floor: null }).toString()).toBe("cluster=mine");
});

it("takes an address that makes no sense as the defaults", () => {
  const params = new URLSearchParams("answers=nine&floor=eighty");
  expect([labelCodec.parse(params), floorCodec.parse(params)]).toEqual([{ kind: "one" }, { floor: null }]);
});
