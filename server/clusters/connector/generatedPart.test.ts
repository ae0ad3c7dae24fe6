import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generatedPart } from "./generatedPart";

const member = fc.string({ minLength: 1, maxLength: 4 }).filter((key) => key !== "__proto__" && key !== "name");
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.string(), fc.integer(), fc.boolean(), fc.array(tie("value")), fc.dictionary(member, tie("value"))),
})).value;

describe("generatedPart", () => {
  it("is what was generated, where that stands as it was", () => {
    fc.assert(
      fc.property(json, (generated) => {
        expect(generatedPart(structuredClone(generated), generated)).toEqual(generated);
      }),
    );
  });

  it("leaves out what the server filled in, and keeps what changed, what was added to a list and what went", () => {
    const generated = { spec: { replicas: 1, image: "a", env: [{ name: "A", value: "1" }], volumes: [] }, labels: { mine: "x" } };
    const found = {
      spec: {
        replicas: 3,
        env: [
          { name: "B", value: "2" },
          { name: "A", value: "1", source: "default" },
        ],
        policy: "Always",
      },
      labels: { mine: "x", theirs: "y" },
      status: {},
    };
    expect(generatedPart(found, generated)).toEqual({
      spec: {
        replicas: 3,
        env: [
          { name: "B", value: "2" },
          { name: "A", value: "1" },
        ],
        volumes: [],
      },
      labels: { mine: "x" },
    });
  });
});
