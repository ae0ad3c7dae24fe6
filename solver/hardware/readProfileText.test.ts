import { describe, expect, it, test } from "vitest";
import { vllmProfile } from "./builtInProfiles";
import { profileText, readProfileText } from "./readProfileText";

it("reads back a profile as it was written", () => {
  expect(readProfileText(profileText(vllmProfile), "own.json")).toEqual({ ok: true, profile: vllmProfile });
});

describe("a file that is not an engine profile is refused in one sentence", () => {
  const edited = (change: object): string => JSON.stringify({ ...vllmProfile, ...change });
  test.each([
    ["half a file", profileText(vllmProfile).slice(0, 90), /^own\.json is not JSON: /],
    ["another document", '{"policy": {"kind": "fixed"}}', /^own\.json is not an engine profile: it has no coefficients\./],
    ["a list", "[1]", /^own\.json is not an engine profile/],
    [
      "the report of calibrate",
      '{"fits": [], "unsupported": []}',
      /^own\.json is the report of weir calibrate --json: give the file that --out wrote\.$/,
    ],
    ["an unknown engine", edited({ engine: "llama.cpp" }), /^own\.json: engine: .*vllm/],
    [
      "a time below 0",
      edited({ coefficients: { ...vllmProfile.coefficients, stepSeconds: -1 } }),
      /^own\.json: coefficients\.stepSeconds: /,
    ],
    ["a factor of 0", edited({ coefficients: { ...vllmProfile.coefficients, compute: 0 } }), /^own\.json: coefficients\.compute: /],
    ["no name", edited({ name: "" }), /^own\.json: name: /],
  ])("%s", (_, text, message) => {
    const read = readProfileText(text, "own.json");
    expect(read.ok ? "read" : read.message).toMatch(message);
    expect(read.ok ? [] : read.message.match(/\n/g)).toBeNull();
  });
});
