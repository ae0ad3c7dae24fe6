import { expect, it } from "vitest";
import type { ApprovalStanding } from "@/server/contracts/studio";
import { approvalRefusal } from "./approvalRefusal";

const refusalFor = (standing: ApprovalStanding | null): string | null => {
  const store = { plans: { get: () => ({ metadata: { name: "day" } }) }, approvals: { standingOn: () => standing } };
  return approvalRefusal(store as unknown as Parameters<typeof approvalRefusal>[0], "0123456789", "c");
};

it("says of a plan that may not be put into force why, and that it must be approved", () => {
  expect(refusalFor("valid")).toBeNull();
  expect(refusalFor(null)).toBe("day (01234567) is not approved on this cluster: approve it.");
  expect(refusalFor("earlier-rule")).toMatch(/^day \(01234567\) was approved under the old rule, .*: approve it again\.$/);
  expect(refusalFor("changed")).toMatch(/has changed since day \(01234567\) was approved: approve it again\.$/);
});
