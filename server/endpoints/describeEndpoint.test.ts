import { describe, expect, it } from "vitest";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { ProbeTarget, ServedModel } from "../engineClient/checkEndpoint";
import { connectionSchema } from "./connection";
import { describeEndpoint } from "./describeEndpoint";
import type { EndpointProbe } from "./probeEndpoint";

const cards = catalogueOf(noUserCards);
const target: ProbeTarget = { name: "gpu-1-8000", url: "http://gpu-1:8000" };
const model = (id: string, more: Partial<ServedModel> = {}): ServedModel => ({ id, root: id, parent: null, maxModelLen: null, ...more });
const described = (probe: Partial<EndpointProbe>, more: { target?: Partial<ProbeTarget>; gpu?: string } = {}) =>
  describeEndpoint({ ...target, ...more.target }, { served: [], shape: null, precision: null, limits: null, ...probe }, { cards, ...more });

describe("an endpoint described by what a probe found", () => {
  it("is whole enough to be attached, with everything that was guessed said to be", () => {
    const { endpoint, guesses, questions } = described({ served: [model("Qwen/Qwen2.5-7B-Instruct")] });
    expect(endpoint).toMatchObject({ model: "qwen2.5-7b", servedName: "Qwen/Qwen2.5-7B-Instruct", precision: "bf16", tp: 1, pp: 1 });
    expect(endpoint?.guessed).toEqual(["gpu", "precision", "tp", "pp"]);
    expect(guesses.map(({ field }) => field)).toEqual(endpoint?.guessed);
    expect(questions).toEqual([]);
    expect(connectionSchema.safeParse({ kind: "endpoints", endpoints: [endpoint] }).error).toBeUndefined();
  });

  it("guesses nothing that the engine tells", () => {
    const { endpoint } = described({ served: [model("qwen2.5-7b")], shape: { tp: 4, pp: 2 }, precision: "fp8" });
    expect(endpoint).toMatchObject({ tp: 4, pp: 2, precision: "fp8", guessed: ["gpu"] });
    expect(endpoint).not.toHaveProperty("servedName");
  });

  it("takes the limits that the engine says, and leaves them open where it says none", () => {
    const served = [model("qwen2.5-7b")];
    expect(described({ served, limits: { maxSequences: 32 } }).endpoint?.limits).toEqual({ maxSequences: 32, source: "engine" });
    expect(described({ served }).endpoint).not.toHaveProperty("limits");
  });

  it("takes the weights' format from the name, and the fewest GPUs that hold them", () => {
    expect(described({ served: [model("org/Qwen2.5-32B-Instruct-AWQ")] }).endpoint).toMatchObject({
      model: "qwen2.5-32b",
      precision: "int4",
    });
    expect(described({ served: [model("qwen2.5-32b")] }, { gpu: "l40s" }).endpoint).toMatchObject({ gpu: "l40s", tp: 2, pp: 1 });
  });

  it("goes by what was loaded where the served name says nothing, a path too", () => {
    const served = [model("default", { root: "/models/Qwen2.5-7B-Instruct/" })];
    expect(described({ served }).endpoint).toMatchObject({ model: "qwen2.5-7b", servedName: "default" });
  });

  it("leaves adapters out, and asks which where an address serves several", () => {
    const one = [model("qwen2.5-7b"), model("my-adapter", { parent: "qwen2.5-7b" })];
    expect(described({ served: one })).toMatchObject({ questions: [], endpoint: { model: "qwen2.5-7b" } });
    const two = [model("private"), model("qwen2.5-3b"), model("qwen2.5-7b")];
    expect(described({ served: two })).toMatchObject({
      endpoint: { model: "qwen2.5-3b", guessed: expect.arrayContaining(["model"]) },
      questions: ["Which of private, qwen2.5-3b, qwen2.5-7b is to be attached?"],
    });
    expect(described({ served: two }, { target: { servedName: "qwen2.5-7b" } })).toMatchObject({
      questions: [],
      endpoint: { model: "qwen2.5-7b" },
    });
  });

  it("asks for a card where there is none", () => {
    const { endpoint, questions } = described({ served: [model("secret-model")] });
    expect(endpoint).toBeNull();
    expect(questions).toEqual([
      "There is no card of secret-model, which gpu-1-8000 serves: choose the card of a model like it, or add one of your own.",
    ]);
  });

  it("keeps the references to key and CA", () => {
    const access = { key: { environment: "WEIR_ENGINE_A" }, caFile: "ca.pem", url: "https://gpu-1" };
    expect(described({ served: [model("qwen2.5-7b")] }, { target: access }).endpoint).toMatchObject(access);
  });
});

describe("a connection", () => {
  const one = { name: "a", url: "http://a:1", model: "m", gpu: "l40s", precision: "bf16" };
  const issues = (endpoints: readonly Record<string, unknown>[]) =>
    connectionSchema.safeParse({ kind: "endpoints", endpoints }).error?.issues.map(({ message }) => message) ?? [];

  it.each<[readonly Record<string, unknown>[], RegExp]>([
    [[], /attach at least one/],
    [[one, { ...one, url: "http://b:1" }], /Two endpoints are called a/],
    [[one, { ...one, name: "b" }], /m at http:\/\/a:1 is listed twice/],
    [[{ ...one, url: "http://a:1/v1" }], /The root of an engine's API is wanted, here http:\/\/a:1\./],
    [[{ ...one, url: "ftp://a" }], /no http or https/],
    [[{ ...one, caFile: "ca.pem" }], /no https address/],
    [[{ ...one, name: "Bad Name" }], /a name has up to 40/],
  ])("refuses what makes no sense (%#)", (endpoints, message) => {
    expect(issues(endpoints).join()).toMatch(message);
  });

  it("takes several models of one address, and repeats no key that was written down by mistake", () => {
    expect(issues([one, { ...one, name: "b", servedName: "n" }])).toEqual([]);
    const refused = connectionSchema.safeParse({ kind: "endpoints", endpoints: [{ ...one, key: "sk-live" }] });
    expect(refused.success).toBe(false);
    expect(JSON.stringify(refused.error?.issues)).not.toContain("sk-live");
  });
});
