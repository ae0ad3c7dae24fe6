import { expect, it } from "vitest";
import { ensembleSchema } from "./ensembleDocument";

const document = {
  ...{ name: "trio", experts: ["a", "b", "c"], expertsPerQuestion: 2, extraction: { kind: "choice" }, confidence: { kind: "plurality" } },
  ...{ tau: 1, aggregator: { model: "d" }, quorum: 2, deadlineSeconds: 60 },
};

it("asks no name of the gateway's own, which is no model", () => {
  expect(ensembleSchema.safeParse(document).success).toBe(true);
  const refusal = (change: object): string | undefined => ensembleSchema.safeParse({ ...document, ...change }).error?.issues[0]?.message;
  expect(refusal({ experts: ["a", "b", "ensemble/duo"] })).toBe("asks ensemble/duo, a name that is the gateway's own: name models");
  expect(refusal({ aggregator: { model: "cascade/default" } })).toContain("asks cascade/default");
  expect(refusal({ experts: ["a", "b", "ensembles/duo"] })).toBeUndefined();
});
