import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { expect, it } from "vitest";
import { deprecatedProcedures, servedRouter } from "./deprecatedProcedures";
import type { Services } from "./routers/services";

const uploadId = "0a1b2c3d-0000-4000-8000-000000000000";
const arrivals = { workloadId: "w", arrivals: { kind: "generated" }, segments: [], timeZone: "UTC" };

/** Former path, present path, whether it is a mutation, and an input. */
const renamed = [
  ["calibrations.takeLive", "calibrations.calibrateFromLive", "POST", { clusterId: "c", span: "hour" }],
  ["gateway.liftPanic", "gateway.clearPanic", "POST", { clusterId: "c", reason: "" }],
  ["gateway.turnKnobs", "gateway.setControls", "POST", { clusterId: "c", etag: "e", thresholds: [50], reason: "" }],
  ["plans.dip", "plans.capacityDip", "GET", { planId: "p", clusterId: "c" }],
  ["prompts.putAway", "prompts.archive", "POST", { uploadId }],
  ["workflows.of", "workflows.get", "GET", { clusterId: "c" }],
  ["workflows.waited", "workflows.waitTimes", "GET", { clusterId: "c" }],
  ["workloads.rearrive", "workloads.replaceArrivals", "POST", arrivals],
] as const;

/** The audit runs the act; every other method answers with its name. */
const called = (room: string, method: string) =>
  room === "audit" && method === "within"
    ? (_: object, run: (act: object) => unknown) => run({ refused: false })
    : () => `${room}.${method}`;

/** Services whose every method answers with the name under which it was called. */
const caller = { kind: "session", id: "s", userId: "u", name: "ada", role: "admin" } as const;
const services = new Proxy({}, { get: (_, room) => new Proxy({}, { get: (_own, method) => called(String(room), String(method)) }) });

async function ask(path: string, method: "GET" | "POST", input: object): Promise<unknown> {
  const query = method === "GET" ? `?input=${encodeURIComponent(JSON.stringify(input))}` : "";
  const body = method === "GET" ? {} : { body: JSON.stringify(input), headers: { "content-type": "application/json" } };
  const response = await fetchRequestHandler({
    endpoint: "/api/trpc",
    req: new Request(`http://studio/api/trpc/${path}${query}`, { method, ...body }),
    router: servedRouter,
    createContext: () => ({ services: services as Services, caller, address: "127.0.0.1", sameOrigin: true }),
  });
  return ((await response.json()) as { result?: { data?: unknown } }).result?.data;
}

it("knows every former path here", () => {
  expect(renamed.map(([former]) => former).sort()).toEqual(Object.keys(deprecatedProcedures).sort());
});

it.each(renamed)("answers %s as %s", async (former, present, method, input) => {
  expect(await ask(present, method, input)).toBe(present);
  expect(await ask(former, method, input)).toBe(present);
});
