import { expect, it } from "vitest";
import { createConnectionPool } from "@/server/calls/upstream";
import type { Answerer, ProfileRequest, PromptSet } from "@/server/contracts/studio";
import { profileProblems } from "./profileProblems";

it("refuses somebody who has one price as a model and another as a judge", async () => {
  const connections = createConnectionPool(100);
  const at = (usd: number): Answerer => ({
    ...{ model: "small", at: { kind: "url", url: "http://127.0.0.1:1" } },
    ...{ usdPerMillionInputTokens: usd, usdPerMillionOutputTokens: usd },
  });
  const problemsOf = (judgeUsd: number) => {
    const judged = { id: "m", name: "m", kind: "rubric", judge: at(judgeUsd), rubric: null, repeats: 1 };
    return profileProblems({ models: [at(0)], measures: [judged] } as unknown as ProfileRequest, { deleted: false } as PromptSet, {
      ground: { clusterOf: () => null, clusterName: (id) => id, connections },
      measureProblem: async () => null,
      signal: new AbortController().signal,
    });
  };
  const twice = "small has two prices at the same place: give it one, as a model and as a judge.";
  expect(await problemsOf(1000)).toContain(twice);
  expect(await problemsOf(0)).not.toContain(twice);
  await connections.close();
});
