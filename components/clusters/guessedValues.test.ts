import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { connectionSchema } from "@/server/endpoints/connection";
import { guessedValues } from "./guessedValues";

const endpoint = (name: string, guessed: readonly string[]) => ({
  ...{ name, url: `http://${name}:8000`, model: "llama-3.1-8b", gpu: "l40s", tp: 2, pp: 1, precision: "bf16", guessed },
});
const textOf = (...endpoints: readonly ReturnType<typeof endpoint>[]) => stringify({ kind: "endpoints", endpoints });

describe("what was guessed when endpoints were attached", () => {
  it("is told by endpoint with its value, and taken for right in one go without changing anything else", () => {
    const text = textOf(endpoint("a", ["gpu", "tp"]), endpoint("b", []));
    const found = guessedValues(text);
    expect(found?.lines).toEqual(["a: GPU type l40s, tensor parallel 2"]);
    expect(connectionSchema.parse(found?.confirmed)).toEqual(
      connectionSchema.parse({ kind: "endpoints", endpoints: [endpoint("a", []), endpoint("b", [])] }),
    );
  });

  it("is nothing where all was confirmed, and for other kinds", () => {
    expect(guessedValues(textOf(endpoint("a", [])))).toBeNull();
    expect(guessedValues("kind: ray\ndashboard: http://ray:8265\nmodels: {}\n")).toBeNull();
  });
});
