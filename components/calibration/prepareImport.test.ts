import { expect, it } from "vitest";
import type { ProfileList } from "@/server/contracts/studio";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { type EngineProfile, MOST_PROFILE_NAME } from "@/solver/hardware/engineProfile";
import { importMeets } from "./prepareImport";

const fitted = (name: string, stepSeconds: number): EngineProfile => ({
  ...engineProfiles.vllm,
  id: `id of ${name}`,
  name,
  coefficients: { ...engineProfiles.vllm.coefficients, stepSeconds },
});
const list = (...own: readonly EngineProfile[]): ProfileList => ({
  builtIn: Object.values(engineProfiles),
  own: own.map((profile) => ({ profile, createdAt: "2026-11-23T10:00:00Z", actor: "ann" })),
  inUse: "vllm",
});

it("meets nothing under a name of its own", () => {
  expect(importMeets(fitted("ours", 1e-3), "ours", list(fitted("theirs", 2e-3)))).toEqual({ kind: "nothing" });
});

it("knows a profile that is there already, whatever it is called and in whatever order its file has the fields", () => {
  const kept = fitted("ours", 1e-3);
  const reordered = Object.fromEntries(Object.entries(kept).reverse()) as unknown as EngineProfile;
  expect(importMeets({ ...reordered, id: "else", name: "else" }, "else", list(kept))).toEqual({ kind: "same-profile", profile: kept });
});

it("offers a free name where another profile has the name, built-in ones among them", () => {
  const meets = importMeets(fitted("ours", 1e-3), "ours", list(fitted("ours", 2e-3), fitted("ours (2)", 3e-3)));
  expect(meets).toMatchObject({ kind: "name-taken", freeName: "ours (3)" });
  expect(importMeets(fitted("x", 1e-3), "vLLM", list())).toMatchObject({ kind: "name-taken", freeName: "vLLM (2)" });
  const long = "n".repeat(MOST_PROFILE_NAME);
  const free = importMeets(fitted("x", 1e-3), long, list(fitted(long, 2e-3)));
  expect(free.kind === "name-taken" && free.freeName).toHaveLength(MOST_PROFILE_NAME);
});
