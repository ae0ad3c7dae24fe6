import { expect, it } from "vitest";
import { writeView } from "../url/useUrlView";
import { liveCodec, RANGES } from "./liveCodec";

it("brings every range back from the address and reads an unknown one as the default", () => {
  for (const range of RANGES) expect(liveCodec.parse(writeView(liveCodec, new URLSearchParams(), { range }))).toEqual({ range });
  expect(liveCodec.parse(new URLSearchParams("range=7"))).toEqual({ range: "300" });
});
