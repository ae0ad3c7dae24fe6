import fc from "fast-check";
import { expect, it } from "vitest";
import { writeView } from "../url/useUrlView";
import { type LabView, labCodec, labTabs, latencyKinds } from "./labCodec";
import { sortKeys } from "./prepareTable";
import { formatSpec, parseSpec } from "./specText";
import { testSpec } from "./testRun";

const id = fc.option(fc.stringMatching(/^[a-z0-9 &=-]{1,20}$/), { nil: null });
const index = fc.option(fc.nat(40), { nil: null });
const view: fc.Arbitrary<LabView> = fc.record({
  tab: fc.constantFrom(...labTabs),
  workload: id,
  plan: id,
  spec: id,
  run: fc.option(fc.stringMatching(/^[0-9a-f]{64}$/), { nil: null }),
  latency: fc.constantFrom(...latencyKinds),
  rate: index,
  against: index,
  shown: fc.option(fc.uniqueArray(fc.nat(40), { minLength: 1, maxLength: 6 }), { nil: null }),
  sort: fc.constantFrom(...sortKeys),
  descending: fc.boolean(),
});

it("gives back from the address what was written into it, beside what others wrote", () => {
  fc.assert(
    fc.property(view, (each) => {
      const params = writeView(labCodec, new URLSearchParams("cluster=mine"), each);
      expect(labCodec.parse(new URLSearchParams(params.toString()))).toEqual(each);
      expect(params.get("cluster")).toBe("mine");
    }),
  );
});

it("takes an address that makes no sense as the defaults", () => {
  const typed = new URLSearchParams("tab=moon&run=xyz&at=-1&against=1.5&shown=a.b&sort=x&direction=up");
  expect(labCodec.parse(typed)).toEqual(labCodec.parse(new URLSearchParams()));
});

it("carries a whole description in a link, and reads only sound ones", () => {
  const text = formatSpec(testSpec);
  expect(parseSpec(text)).toEqual(testSpec);
  expect(text.length).toBeLessThan(1000);
  expect(parseSpec(text.slice(0, -3))).toBeNull();
  expect(parseSpec(`2${text.slice(1)}`)).toBeNull();
  expect(parseSpec(formatSpec({ ...testSpec, correlation: 7 }))).toBeNull();
});

it("reads links that were made when a field had its old name", () => {
  const link =
    "1H_EIBHcxLfMIYZwIAjFdnAgKc21hbGx9lwgCLBVOCGxhcmcJwgW1AeUIDmVuZ2luZXMV5ggaeyJzdGFydmVkU3RlcA2AAgIwD5ADBHVtFRQCfd8BigkELDJNjAkOYWxsIHRvIBGHAyPCByG4BBEp2QHsCF_aCBGjAVffCAI4Jd0IJ9YEfVETrgmXAasJkQGsCQI0nwGsCbkDwAMCMcEDwAMEXX0";
  expect(parseSpec(link)).toEqual(testSpec);
});
