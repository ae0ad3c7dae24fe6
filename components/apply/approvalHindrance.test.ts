import { expect, it } from "vitest";
import type { Me } from "@/server/contracts/studio";
import { approvalHindrance } from "./approvalHindrance";

const me: Me = { kind: "session", userId: "1", name: "ann", role: "approver", permissions: ["read", "approve"] };
const ann = { id: "1", name: "ann" };
const approvers = ["ann", "bob"];

it("leaves the approval of a plan to another person than its maker while four eyes is on, and says to whom", () => {
  expect(approvalHindrance(ann, { me, fourEyes: true, approvers })).toBe("You made this plan, and four eyes is on: bob can approve it.");
  expect(approvalHindrance(ann, { me, fourEyes: true, approvers: ["ann"] })).toMatch(/nobody else may approve plans yet\.$/);
  expect(approvalHindrance(ann, { me, fourEyes: false, approvers })).toBeNull();
  expect(approvalHindrance({ id: "2", name: "ann" }, { me, fourEyes: true, approvers })).toBeNull();
  expect(approvalHindrance(null, { me, fourEyes: true, approvers })).toBeNull();
});
