import { expect, it } from "vitest";
import type { Panic } from "@/server/contracts/studio";
import { testFrame } from "../testing/testFrame";
import { beforePanic, panicOf } from "./preparePanic";

const panic: Panic = { model: "large-70b", reason: "wrong answers", by: "operator", sinceMs: 5000 };
const policy = { kind: "fixed", model: "large-70b" } as never;

it("finds the panic of a frame, and none where the gateway says nothing of controls", () => {
  const { gateway } = testFrame();
  const controls = { panic, canary: null, shadow: null, mirror: null };
  const routing = { etag: "e", planId: "p", policyHash: "h", policy, controls };
  expect(panicOf(testFrame({ gateway: { ...gateway, routing } }))).toBe(panic);
  expect(panicOf(testFrame({ gateway: { ...gateway, routing: { ...routing, controls: null } } }))).toBeNull();
  expect(panicOf(testFrame())).toBeNull();
});

it("says which figures are from before the panic and which are not", () => {
  expect(beforePanic(panic)).toMatch(/^In panic large-70b answers everything.*from before.*are current\.$/);
});
