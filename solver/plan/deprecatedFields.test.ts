import { expect, test } from "vitest";
import { withNewNames, withOldNames } from "./deprecatedFields";
import { policySchema } from "./policySchema";

const fixed = { kind: "fixed", model: "small", place: { kind: "least-load" } } as const;
const policy = { ...fixed, order: { kind: "mlfq" as const, quantaSeconds: [1], agingThreshold: 40 } };
const old = { ...fixed, order: { kind: "mlfq" as const, quantaSeconds: [1], agingReleases: 40 } };

test("a policy with the old name is read and written with the new one", () => {
  expect(policySchema.parse(old)).toEqual(policy);
  expect(policySchema.parse(JSON.parse(JSON.stringify(policySchema.parse(old))))).toEqual(policy);
});

test("a policy with both names keeps the new one's value, and one with neither is refused under the new name", () => {
  expect(policySchema.parse({ ...fixed, order: { ...policy.order, agingReleases: 7 } })).toEqual(policy);
  expect(policySchema.safeParse({ ...fixed, order: { kind: "sjf" } }).error?.issues[0]?.path).toEqual(["order", "agingThreshold"]);
});

test("old and new names turn into one another, and an order without them stays as it is", () => {
  expect(withOldNames(policy)).toEqual(old);
  expect(withNewNames(withOldNames(policy))).toEqual(policy);
  const fcfs = { ...fixed, order: { kind: "fcfs" as const } };
  expect([withOldNames(fcfs), withNewNames(fcfs)]).toEqual([fcfs, fcfs]);
});
