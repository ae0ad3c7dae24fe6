import { expect, it } from "vitest";
import { agentHeader, parentsHeader, startedAtHeader } from "@/server/contracts/gateway/gatewayWorkflows";
import { agentHeaders } from "./agentHeaders";

it("names the headers by the names the gateway reads", () => {
  expect(agentHeaders.map(({ name }) => name)).toEqual(expect.arrayContaining([agentHeader, parentsHeader, startedAtHeader]));
});
