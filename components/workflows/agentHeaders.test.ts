import { expect, it } from "vitest";
import { agentHeader, startHeader, upstreamHeader } from "@/server/contracts/gatewayWorkflows";
import { agentHeaders } from "./agentHeaders";

it("names the headers by the names the gateway reads", () => {
  expect(agentHeaders.map(({ name }) => name)).toEqual(expect.arrayContaining([agentHeader, upstreamHeader, startHeader]));
});
