import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { workflowName } from "@/server/contracts/gateway/gatewayLearning";
import { identifiersOf } from "./identifiers";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = "00f067aa0ba902b7";
const own = "decision-1";
const of = (headers: Record<string, string>) => identifiersOf(headers, own);

describe("the program of a request", () => {
  it("is its session, else its trace, else its own", () => {
    const traceparent = `00-${trace}-${parent}-01`;
    expect(of({ "x-conversation-id": "talk-7", traceparent })).toMatchObject({ programId: "talk-7", inSession: true });
    expect(of({ traceparent })).toMatchObject({ programId: trace, inSession: false });
    expect(of({})).toMatchObject({ programId: own, inSession: false });
  });

  it.each([
    ["of a later version, with more behind it", `cc-${trace}-${parent}-01-what-comes`, trace],
    ["of the first version with more behind it", `00-${trace}-${parent}-01-what-comes`, own],
    ["of the version that is none", `ff-${trace}-${parent}-01`, own],
    ["of zeros", `00-${"0".repeat(32)}-${parent}-01`, own],
    ["with a parent of zeros", `00-${trace}-${"0".repeat(16)}-01`, own],
    ["in capitals", `00-${trace.toUpperCase()}-${parent}-01`, own],
    ["sent twice", `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`, own],
    ["without flags", `00-${trace}-${parent}`, own],
  ])("goes by a trace %s as W3C says", (_, traceparent, programId) => {
    expect(of({ traceparent }).programId).toBe(programId);
  });
});

describe("the agent of a request", () => {
  it("is what it names, and stands for its stage where it names none, and the other way round", () => {
    expect(of({ "x-weir-agent": "coder" })).toMatchObject({ agent: "coder", stage: "coder" });
    expect(of({ "x-weir-stage": "review" })).toMatchObject({ agent: "review", stage: "review" });
    expect(of({ "x-weir-agent": "coder", "x-weir-stage": "review" })).toMatchObject({ agent: "coder", stage: "review" });
    expect(of({})).toMatchObject({ agent: "", stage: "", workflow: "", upstreamAgents: [], startedAtMs: null });
  });

  it("follows the agents that are listed, each as often as it is, 64 at most", () => {
    expect(of({ "x-weir-parents": " planner ,coder,, planner, not a name" }).upstreamAgents).toEqual(["planner", "coder", "planner"]);
    expect(of({ "x-weir-parents": Array(80).fill("voter").join(",") }).upstreamAgents).toEqual(Array(64).fill("voter"));
    const many = Array.from({ length: 80 }, (_, at) => `agent${at}`);
    expect(of({ "x-weir-parents": many.join(",") }).upstreamAgents).toEqual(many.slice(0, 64));
  });
});

it("reads headers under their former names too, and prefers the new ones", () => {
  const startedAtMs = Date.now() - 5000;
  const former = { "x-weir-upstream": "planner", "x-weir-start": String(startedAtMs) };
  expect(of(former)).toMatchObject({ upstreamAgents: ["planner"], startedAtMs });
  const both = { ...former, "x-weir-parents": "coder", "x-weir-started-at": String(startedAtMs + 1000) };
  expect(of(both)).toMatchObject({ upstreamAgents: ["coder"], startedAtMs: startedAtMs + 1000 });
});

describe("the start of a program", () => {
  it("is what the client says within the last day, and nothing else", () => {
    const nowMs = Date.now();
    const startOf = (text: string) => of({ "x-weir-started-at": text }).startedAtMs;
    expect(startOf(String(nowMs - 5000))).toBe(nowMs - 5000);
    for (const absurd of [String(nowMs + 60_000), String(nowMs - 2 * 86_400_000), "0", "-5", "1e12", "soon", "", "9".repeat(400)])
      expect(startOf(absurd)).toBeNull();
  });
});

it("is read from any headers at all, and gives names alone", () => {
  const headers = ["x-session-id", "traceparent", "x-weir-agent", "x-weir-stage", "x-weir-parents", "x-weir-workflow", "x-weir-started-at"];
  const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "a,b", "..", "ü", "x".repeat(64)));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...headers), text), (given) => {
      const { programId, workflow, stage, agent, upstreamAgents, startedAtMs } = of(given);
      expect(programId).toMatch(/^[\x21-\x7e]{1,128}$/);
      for (const name of [workflow, stage, agent].filter((one) => one !== "")) expect(name).toMatch(workflowName);
      for (const name of upstreamAgents) expect(name).toMatch(workflowName);
      expect(startedAtMs === null || startedAtMs <= Date.now()).toBe(true);
    }),
  );
});
