import { describe, expect, it } from "vitest";
import { faultSentence } from "@/server/lib/fieldFault";
import { inputFault } from "../routers/trpc";
import { attachSchema, tryEndpointsSchema } from "./inputs";

const sentenceOf = (input: unknown, schema: typeof tryEndpointsSchema | typeof attachSchema = tryEndpointsSchema): string => {
  const parsed = schema.safeParse(input);
  if (parsed.success) throw new Error("It was taken.");
  return faultSentence(inputFault(parsed.error));
};

describe("endpoints to try", () => {
  it("are taken with a key by reference, and refused with the key itself, of which nothing is repeated", () => {
    const endpoint = { name: "a", url: "http://a:8000" };
    const key = { environment: "WEIR_ENGINE_KEY" };
    expect(tryEndpointsSchema.safeParse({ endpoints: [{ ...endpoint, key }], generate: false }).success).toBe(true);
    const says = sentenceOf({ endpoints: [{ ...endpoint, key: "hunter2" }], generate: false });
    expect(says).toContain("endpoints.0.key: A key is never written down here");
    expect(says).not.toContain("hunter2");
  });

  it("come behind a gateway whose token is a reference too", () => {
    const gateway = { runBy: "operator", url: "http://a:4610", adminUrl: "http://a:4611", token: "hunter2" };
    const says = sentenceOf({ name: "a", connection: {}, gateway }, attachSchema);
    expect(says).toContain("gateway.token: A key is never written down here");
    expect(says).not.toContain("hunter2");
  });

  it("are told what is wrong by the form they are nearest to", () => {
    expect(sentenceOf({ text: "x".repeat(200_001) })).toBe("text: paste at most 200,000 characters");
    expect(sentenceOf({ endpoints: [], generate: true })).toContain("endpoints");
  });
});
